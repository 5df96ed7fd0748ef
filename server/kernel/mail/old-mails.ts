import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../db/database-errors.ts'

const KEPT_MS = 7 * 86_400_000

export async function removeOldMails(folder: string, now = Date.now()): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (!/\.eml(?:\.part)?$/.test(name)) continue
    const path = join(folder, name)
    if (now - (await changedAt(path)) > KEPT_MS) await rm(path, { force: true })
  }
}

/** A file that is gone, such as a temporary one, was never changed. */
async function changedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Number.POSITIVE_INFINITY
    throw error
  }
}

/** With an SMTP server there is no such folder. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}
