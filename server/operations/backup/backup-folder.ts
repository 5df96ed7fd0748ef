import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { BackupError, explainWriting } from './backup-error.ts'

export const FINISHED = /^vslukh-.*\.backup$/
const UNFINISHED = /^\.vslukh-.*\.backup\.[0-9a-f]{12}$/

/** Names sort by the time at which the backups were made. */
export function backupName(madeAt: Date): string {
  return `vslukh-${madeAt.toISOString().replaceAll(':', '-')}.backup`
}

/** Makes the folder in DATA_DIR alone: elsewhere its disk may not be mounted. */
export async function makeBackupFolder(folder: string, dataDir: string): Promise<void> {
  if (dirname(folder) === dataDir) {
    await mkdir(folder, { mode: 0o700 }).catch((cause) => {
      if (errorCode(cause) !== 'EEXIST') throw explainWriting(cause, folder)
    })
  }
  await requireBackupFolder(folder)
}

export async function requireBackupFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory()) return
  throw new BackupError(
    found
      ? `${folder} — файл, а нужна папка. Исправьте BACKUP_DIR.`
      : `Папки BACKUP_DIR (${folder}) нет. Подключите её диск или создайте её.`,
  )
}

/** Returns when the oldest backup in a folder was made; undefined if there is none. */
export async function oldestBackup(folder: string): Promise<Date | undefined> {
  const names = await readdir(folder).catch(() => [])
  const [oldest] = names.filter((name) => FINISHED.test(name)).sort()
  const time = oldest?.match(/^vslukh-(.*T)(\d\d)-(\d\d)-(.*)\.backup$/)?.slice(1)
  if (!time) return undefined
  const [date, ...clock] = time
  return new Date(date + clock.join(':'))
}

type Kept = {
  keep: number
  /** The backup that was verified last is kept, too. */
  verifiedCopy: Date | null
}

export async function removeOldest(folder: string, { keep, verifiedCopy }: Kept): Promise<void> {
  const names = (await readdir(folder)).filter((name) => FINISHED.test(name)).sort()
  const verified = verifiedCopy && backupName(verifiedCopy)
  const old = names.slice(0, -keep).filter((name) => name !== verified)
  for (const name of old) await rm(join(folder, name))
}

/** Removes files of backups whose process was killed: not written to for `idleMs`. */
export async function removeUnfinished(folder: string, idleMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!UNFINISHED.test(name)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > idleMs) await rm(path, { force: true })
  }
}
