import { execFile } from 'node:child_process'
import { readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readIfExists } from '../../kernel/config/read-if-exists.ts'
import { errorCode } from '../../kernel/db/database-errors.ts'
import type { Address } from './address.ts'

const execute = promisify(execFile)

/** The file postmaster.pid. `address` is written late; `identity` is pid, folder and start time. */
export type PidFile = { pid: number; address: Address | undefined; identity: string }

export function parsePidFile(text: string): PidFile {
  const lines = text.split('\n')
  const [pid = '', _folder, _time, port, host] = lines
  return {
    pid: Number.parseInt(pid, 10),
    address: host ? { host, port: Number(port) } : undefined,
    identity: lines.slice(0, 3).join('\n'),
  }
}

export async function readPidFile(cluster: string): Promise<PidFile | undefined> {
  const text = await readIfExists(join(cluster, 'postmaster.pid'))
  return text === undefined ? undefined : parsePidFile(text)
}

/** Returns the pid file of a cluster if its server still runs. */
export async function findRunning(cluster: string): Promise<PidFile | undefined> {
  const file = await readPidFile(cluster)
  return file && (await isServerOf(file.pid, cluster)) ? file : undefined
}

/** Returns whether a process serves this cluster, and is not another program with the same pid. */
export async function isServerOf(pid: number, cluster: string): Promise<boolean> {
  if (!(pid > 0)) return false
  try {
    if (process.platform === 'linux') {
      const program = await readlink(`/proc/${pid}/exe`)
      return (
        /\/postgres( \(deleted\))?$/.test(program) &&
        (await readlink(`/proc/${pid}/cwd`)) === cluster
      )
    }
    const found = await execute('ps', ['-ww', '-o', 'args=', '-p', String(pid)])
    return found.stdout.includes(`-D ${cluster}`)
  } catch {
    return false
  }
}

/**
 * Writes the pid of this process into lock files whose pid another program has after a reboot,
 * because PostgreSQL would not start. It ignores the pid of its parent. The files stay, because
 * without them PostgreSQL would not look for surviving backends.
 */
export async function disarmStaleLocks(cluster: string, socketLock: string): Promise<void> {
  for (const path of [join(cluster, 'postmaster.pid'), socketLock]) {
    const text = await readIfExists(path)
    if (text === undefined) continue
    const { pid } = parsePidFile(text)
    if (!isAlive(pid) || (await isServerOf(pid, cluster))) continue
    const disarmed = text.replace(/^\d+/, (old) => String(process.pid).padStart(old.length, '0'))
    // Does not truncate the file: on a full disk it would stay empty, which PostgreSQL refuses.
    await writeFile(path, disarmed, { flag: 'r+' })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}
