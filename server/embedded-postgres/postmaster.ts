import { spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { endsWithin } from '../db/deadline.ts'
import type { Address } from './address.ts'
import { environment, type Place } from './cluster.ts'
import { boundLog, readComplaint, sizeOf } from './log-file.ts'
import { commandAs, giveTo } from './os-user.ts'
import { disarmStaleLocks, findRunning, isServerOf } from './pid-file.ts'
import { sharedBuffers, usableMemory } from './shared-buffers.ts'

const FAST_SHUTDOWN_MS = 5_000
const IMMEDIATE_SHUTDOWN_MS = 2_000

/** A PostgreSQL that this process started. `complaint` reads from its log why it ended. */
export type Launched = {
  address: Address
  pid: number | undefined
  exited: Promise<void>
  hasExited: () => boolean
  complaint: () => Promise<string>
}

export const logPath = (dataDir: string) => join(dataDir, 'postgres.log')

const SETTINGS = [
  'max_connections=120',
  `shared_buffers=${sharedBuffers(usableMemory())}MB`,
  'jit=off',
  'timezone=UTC',
  'log_timezone=UTC',
  'fsync=on',
  'full_page_writes=on',
  'synchronous_commit=on',
  // The server's own life only: failed statements reach the application, and they hold what users wrote.
  'log_min_messages=log',
  'log_min_error_statement=panic',
  'log_checkpoints=off',
]

/** Starts PostgreSQL in a process group of its own, out of reach of the terminal's Ctrl+C; does not wait until it serves. */
export async function launch(place: Place, address: Address): Promise<Launched> {
  const log = logPath(place.dataDir)
  // On a full disk there is no room to move it: that must not keep PostgreSQL down once there is some for its data.
  await boundLog(log).catch(() => {})
  await giveTo(place.user, place.cluster)
  await disarmStaleLocks(place.cluster, join(address.host, `.s.PGSQL.${address.port}.lock`))
  const logged = await sizeOf(log)
  const output = await open(log, 'a', 0o600)
  try {
    const { file, args, ids } = launchCommand(place, address)
    const child = spawn(file, args, {
      ...ids,
      env: environment(),
      detached: true,
      windowsHide: true,
      stdio: ['ignore', output.fd, output.fd],
    })
    child.unref()
    const { promise: exited, resolve } = Promise.withResolvers<void>()
    let ended = false
    let failure = ''
    const end = () => {
      ended = true
      resolve()
    }
    child.once('exit', end).once('error', (error) => {
      failure = error.message
      end()
    })
    const complaint = async () => failure || (await readComplaint(log, logged))
    return { address, pid: child.pid, exited, hasExited: () => ended, complaint }
  } finally {
    await output.close()
  }
}

function launchCommand(place: Place, address: Address) {
  const { binaries, cluster, dataDir, user } = place
  const listen = address.password
    ? [`listen_addresses=${address.host}`]
    : ['listen_addresses=', `unix_socket_directories="${address.host.replaceAll('"', '""')}"`]
  const options = [`port=${address.port}`, ...listen, ...SETTINGS].flatMap((one) => ['-c', one])
  // Only pg_ctl drops an administrator's rights on Windows; none of the options holds a space there.
  return process.platform === 'win32'
    ? commandAs(user, binaries.pgCtl, [
        ...['start', '-w', '-D', cluster, '-l', logPath(dataDir)],
        ...['-o', options.join(' ')],
      ])
    : commandAs(user, binaries.postgres, ['-D', cluster, ...options])
}

/**
 * Ends the PostgreSQL of this cluster and resolves when it is gone: whoever started it if the lock is held (`locked`),
 * else only one launched here. It gets five seconds to write a checkpoint; then it is cut off, which loses nothing: the
 * next start replays its log.
 */
export async function stopPostmaster(
  place: Place,
  launched: Launched | undefined,
  locked: boolean,
): Promise<void> {
  const own = launched && !launched.hasExited() ? launched : undefined
  const running = locked ? await findRunning(place.cluster) : undefined
  const pid = running?.pid ?? own?.pid
  if (pid === undefined) return
  const gone = own?.pid === pid ? own.exited : untilGone(pid, place.cluster)
  await end(place, pid, 'fast')
  if (await endsWithin(gone, FAST_SHUTDOWN_MS)) return
  await end(place, pid, 'immediate')
  await endsWithin(gone, IMMEDIATE_SHUTDOWN_MS)
}

async function end(place: Place, pid: number, mode: 'fast' | 'immediate'): Promise<void> {
  if (process.platform === 'win32') {
    const args = ['stop', '-W', '-m', mode, '-D', place.cluster]
    const child = spawn(place.binaries.pgCtl, args, { stdio: 'ignore', windowsHide: true })
    await new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
    return
  }
  try {
    process.kill(pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
  } catch {
    // Gone in this very moment.
  }
}

async function untilGone(pid: number, cluster: string): Promise<void> {
  while (await isServerOf(pid, cluster)) await delay(20)
}
