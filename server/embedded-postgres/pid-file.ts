import { execFile } from 'node:child_process'
import { open, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorCode } from '../db/database-errors.ts'
import { readIfThere } from '../start/secret-file.ts'

const execute = promisify(execFile)

/** What a PostgreSQL server writes about itself into postmaster.pid. `identity`: its pid, folder and start time. */
export type PidFile = { pid: number; port: number; socketDir: string; identity: string }

/** Reads the text of a postmaster.pid. */
export function parsePidFile(text: string): PidFile {
  const lines = text.split(/\r?\n/)
  return {
    pid: Number.parseInt(lines[0] ?? '', 10),
    port: Number.parseInt(lines[3] ?? '', 10),
    socketDir: lines[4] ?? '',
    identity: lines.slice(0, 3).join('\n'),
  }
}

/** The cluster's postmaster.pid, whoever left it there; undefined if there is none. */
export async function readPidFile(cluster: string): Promise<PidFile | undefined> {
  const text = await readIfThere(join(cluster, 'postmaster.pid'))
  return text === undefined ? undefined : parsePidFile(text)
}

/** The server that runs on this cluster right now, whoever started it. A reused pid does not deceive it. */
export async function findRunning(cluster: string): Promise<PidFile | undefined> {
  const file = await readPidFile(cluster)
  return file && (await isServerOf(file.pid, cluster)) ? file : undefined
}

/** Whether a process is a PostgreSQL that works on this cluster (not another program that got the same number). */
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
    if (process.platform === 'win32') {
      const found = await execute('tasklist', ['/FI', `PID eq ${pid}`, '/NH'], {
        windowsHide: true,
      })
      return found.stdout.toLowerCase().includes('postgres')
    }
    const found = await execute('ps', ['-ww', '-o', 'args=', '-p', String(pid)])
    return found.stdout.includes(`-D ${cluster}`)
  } catch {
    return false
  }
}

/**
 * After a reboot another program may have the pid that a dead server left in its lock files, and PostgreSQL would
 * refuse to start. It ignores its own parent's pid there, so that is written in: unlike deleting the file, this keeps
 * PostgreSQL's check for surviving backends of the dead server.
 */
export async function disarmStaleLocks(cluster: string, socketLock: string): Promise<void> {
  // On Windows PostgreSQL asks the process itself and is not deceived.
  if (process.platform === 'win32') return
  for (const path of [join(cluster, 'postmaster.pid'), socketLock]) {
    const text = await readIfThere(path)
    if (text === undefined) continue
    const { pid } = parsePidFile(text)
    if (!isAlive(pid) || (await isServerOf(pid, cluster))) continue
    await overwrite(path, text.replace(/^\d+/, String(process.pid)))
  }
}

/** Writes over a file in place: emptied first, it would stay empty on a full disk, and PostgreSQL refuses an empty one. */
async function overwrite(path: string, text: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.write(text, 0)
    await file.truncate(Buffer.byteLength(text))
  } finally {
    await file.close()
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}
