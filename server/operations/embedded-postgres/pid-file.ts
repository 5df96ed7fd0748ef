import { execFile } from 'node:child_process'
import { readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readIfExists } from '../../kernel/config/read-if-exists.ts'
import type { Address } from './address.ts'

const execute = promisify(execFile)

/** The facts of the file postmaster.pid. PostgreSQL writes `address` late. */
type PidFile = { pid: number; address: Address | undefined }

export async function readPidFile(cluster: string): Promise<PidFile | undefined> {
  const text = await readIfExists(join(cluster, 'postmaster.pid'))
  if (text === undefined) return undefined
  const [pid = '', _folder, _time, port, host] = text.split('\n')
  return {
    pid: Number.parseInt(pid, 10),
    address: host ? { host, port: Number(port) } : undefined,
  }
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
