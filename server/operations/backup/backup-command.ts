import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../../kernel/config/config.ts'
import { BackupError } from './backup-folder.ts'
import { COMMAND } from './backup-state.repository.ts'

const HOUR_MS = 3_600_000
/** The time between asking the command's processes to end and killing them. */
const GRACE_MS = 1000
const KEPT_OUTPUT = 2000
const LONGEST_LINE = 200

type Bounds = { signal: AbortSignal; withinMs?: number | undefined }

/**
 * Runs BACKUP_COMMAND by /bin/sh, with the path of the backup in `$1` and VSLUKH_BACKUP, and ends
 * its process group. Throws BackupError if it fails or takes too long.
 */
export async function runBackupCommand(
  { line, env }: NonNullable<Config['backupCommand']>,
  file: string,
  { signal, withinMs = HOUR_MS }: Bounds,
): Promise<void> {
  signal.throwIfAborted()
  // The shell changes the folder, because `spawn` with `cwd` would block until the disk answers.
  const script = `cd -- "$(dirname -- "$1")" || exit\n${line}`
  const child = spawn('/bin/sh', ['-c', script, 'vslukh', file], {
    env: { ...env, VSLUKH_BACKUP: file },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-KEPT_OUTPUT)
    })
  }
  const closed = once(child, 'close').catch(() => {})
  const over = AbortSignal.any([signal, AbortSignal.timeout(withinMs)])
  try {
    const [code, killedBy] = await once(child, 'exit', { signal: over })
    if (code === 0) return
    await Promise.race([closed, delay(GRACE_MS)])
    throw new BackupError(`${COMMAND}: ${killedBy ?? `код ${code}`}${lastLine(output)}`)
  } catch (error) {
    signal.throwIfAborted()
    if (!over.aborted) throw error
    throw new BackupError(`${COMMAND}: не закончилась за ${withinMs / HOUR_MS} ч и остановлена`)
  } finally {
    if (over.aborted && endGroup(child.pid, 'SIGTERM')) await delay(GRACE_MS)
    endGroup(child.pid, 'SIGKILL')
    // A process that has left the group may keep the other ends of the pipes open.
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** Returns the last line, which most likely states the cause, without passwords in addresses. */
function lastLine(output: string): string {
  const line =
    output
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? ''
  const text = line.replace(/\/\/[^/@\s]+@/g, '//***@').replace(/\p{Cc}/gu, ' ')
  return text === '' ? '' : `, ${text.slice(0, LONGEST_LINE)}`
}
