import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, open, readFile, stat, truncate } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { constrainedMemory } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { endsWithin } from '../../kernel/deadline.ts'
import { programReason, whyFailed } from '../../kernel/errors/why-failed.ts'
import type { Address } from './address.ts'
import { type ClusterPaths, environment } from './cluster.ts'
import { changeOwner, commandAs } from './os-user.ts'
import { findRunning, isServerOf } from './pid-file.ts'

const LARGEST_LOG = 1024 * 1024
const FAST_SHUTDOWN_MS = 5_000
const IMMEDIATE_SHUTDOWN_MS = 2_000

/** A PostgreSQL that this process started. `logOffset` is the size of its log before the start. */
export type LaunchedServer = {
  child: ChildProcess
  /** Resolves when it has ended, or to the error if it could not be started. */
  exit: Promise<unknown>
  logOffset: number
  /** Whether it has accepted a connection, so that its end is no failed start. */
  hasServed: boolean
}

export const logPath = (dataDir: string) => join(dataDir, 'postgres.log')

/** Starts PostgreSQL in a process group of its own, which Ctrl+C does not reach. */
export async function launch(
  paths: ClusterPaths,
  address: Address,
  { settings, stalePid }: { settings: string[]; stalePid: number | undefined },
): Promise<LaunchedServer> {
  const log = logPath(paths.dataDir)
  // A disk that is too full to copy the log must not keep PostgreSQL from starting.
  await limitLogSize(log).catch(() => {})
  await changeOwner(paths.user, paths.cluster)
  // PostgreSQL refuses a folder that others may enter, as `chmod -R 755` or a copy leaves it.
  await chmod(paths.cluster, 0o700).catch(() => {})
  const logged = await sizeOf(log)
  const output = await open(log, 'a', 0o600)
  try {
    const { file, args, ids } = launchCommand(paths, address, settings)
    const child = spawn(file, args, {
      ...ids,
      // Another program may have the pid in a lock file that is left. PostgreSQL ignores such a file
      // only if the pid is its grandparent's.
      env: { ...environment(), ...(stalePid && { PG_GRANDPARENT_PID: String(stalePid) }) },
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    })
    child.unref()
    const exited = once(child, 'exit').catch((error: unknown) => error)
    return { child, exit: exited, logOffset: logged, hasServed: false }
  } finally {
    await output.close()
  }
}

export function hasExited({ child }: LaunchedServer): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

/** Returns why PostgreSQL ended: the error of its start, or the last lines of its log. */
export async function failureReason(dataDir: string, launched: LaunchedServer): Promise<string> {
  const error = await launched.exit
  if (error instanceof Error) return whyFailed(error)
  const log = await readFile(logPath(dataDir)).catch((cause) => cause as Error)
  if (log instanceof Error) return whyFailed(log)
  return programReason(log.subarray(launched.logOffset).toString(), launched.child.signalCode)
}

function launchCommand(paths: ClusterPaths, address: Address, otherSettings: string[]) {
  const { binaries, cluster, user } = paths
  const settings = [
    `port=${address.port}`,
    'listen_addresses=',
    `unix_socket_directories="${address.host.replaceAll('"', '""')}"`,
    ...SETTINGS,
    ...otherSettings,
  ]
  const options = settings.flatMap((setting) => ['-c', setting])
  return commandAs(user, binaries.postgres, ['-D', cluster, ...options])
}

/**
 * Stops the PostgreSQL that was launched here. With the lock, it also stops a PostgreSQL that another
 * process launched.
 */
export async function stopPostmaster(
  { cluster }: ClusterPaths,
  launched: LaunchedServer | undefined,
  isLocked: boolean,
): Promise<void> {
  const own = launched && !hasExited(launched) ? launched : undefined
  // The pid file of the own one is not read, because a bad disk may refuse that.
  const running = isLocked && !own ? await findRunning(cluster) : undefined
  const pid = own?.child.pid ?? running?.pid
  if (pid === undefined) return
  const ended = own?.exit ?? waitUntilEnded(pid, cluster)
  signal(pid, 'SIGINT')
  if (await endsWithin(ended, FAST_SHUTDOWN_MS)) return
  signal(pid, 'SIGQUIT')
  await endsWithin(ended, IMMEDIATE_SHUTDOWN_MS)
}

function signal(pid: number, name: 'SIGINT' | 'SIGQUIT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended.
  }
}

async function waitUntilEnded(pid: number, cluster: string): Promise<void> {
  while (await isServerOf(pid, cluster)) await delay(20)
}

/** Truncates a large log in place, because the running PostgreSQL goes on appending to it. */
export async function limitLogSize(path: string): Promise<void> {
  if ((await sizeOf(path)) <= LARGEST_LOG) return
  await copyFile(path, `${path}.old`)
  await truncate(path)
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

const MIN_BUFFERS_MIB = 64
const MAX_BUFFERS_MIB = 512
/** The share of memory for shared_buffers: half of the manual's, because Node needs memory too. */
const BUFFERS_SHARE = 1 / 8

const MEMORY_MIB = Math.min(totalmem(), constrainedMemory() || Number.POSITIVE_INFINITY) / 1024 ** 2
const BUFFERS_MIB = Math.floor(
  Math.min(MAX_BUFFERS_MIB, Math.max(MIN_BUFFERS_MIB, MEMORY_MIB * BUFFERS_SHARE)),
)

const SETTINGS = [
  'max_connections=120',
  `shared_buffers=${BUFFERS_MIB}MB`,
  'jit=off',
  'timezone=UTC',
  'log_timezone=UTC',
  'fsync=on',
  'full_page_writes=on',
  'synchronous_commit=on',
  // Failed statements contain texts of users, and the application receives their errors.
  'log_min_messages=log',
  'log_min_error_statement=panic',
  'log_checkpoints=off',
  // Parameters are not logged, because they contain texts of users.
  'log_min_duration_statement=500ms',
  'log_parameter_max_length=0',
]
