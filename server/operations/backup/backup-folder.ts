import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorCode } from '../../kernel/db/database-errors.ts'

const FINISHED = /^vslukh-.*\.backup$/
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

/** Returns the names of the backups in a folder, the oldest first. */
async function finishedIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => FINISHED.test(name)).sort()
}

/** Returns when the oldest backup in a folder was made; undefined if there is none. */
export async function oldestBackup(folder: string): Promise<Date | undefined> {
  const [oldest = ''] = await finishedIn(folder).catch(() => [])
  const [, hour, minute, rest] = /^vslukh-(.*T\d\d)-(\d\d)-(.*)\.backup$/.exec(oldest) ?? []
  return hour === undefined ? undefined : new Date(`${hour}:${minute}:${rest}`)
}

type Kept = {
  keep: number
  /** The backup that was verified last is kept, too. */
  verifiedCopy: Date | null
}

export async function removeOldest(folder: string, { keep, verifiedCopy }: Kept): Promise<void> {
  const verified = verifiedCopy && backupName(verifiedCopy)
  const old = (await finishedIn(folder)).slice(0, -keep).filter((name) => name !== verified)
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

/** The message is a Russian sentence for the operator. */
export class BackupError extends Error {}

const REASONS: Record<string, string> = {
  EEXIST: 'такой файл уже есть',
  ENOENT: 'такой папки нет',
  ENOTDIR: 'такой папки нет',
  EACCES: 'нет права писать сюда',
  EPERM: 'нет права писать сюда',
  EROFS: 'диск только для чтения',
  ENOSPC: 'на диске не осталось места',
  EDQUOT: 'на диске не осталось места',
}

/** Explains why a backup was not made, or returns a cause that is not known. */
export function explainWriting(cause: unknown, path: string): unknown {
  const reason = REASONS[errorCode(cause)]
  return reason ? new BackupError(`Копия ${path} не сделана: ${reason}.`, { cause }) : cause
}

/** The codes of a folder that knows no links, as on exFAT. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** A file is written under a name of its own, so that two at once cannot write into one file. */
export function unfinishedPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
}

/** Moves a complete file to its final name. Unlike a rename this never replaces a file: EEXIST. */
export async function nameFile(
  unfinished: string,
  path: string,
  makeLink: typeof link = link,
): Promise<void> {
  try {
    await makeLink(unfinished, path)
  } catch (error) {
    if (!NO_LINKS.includes(errorCode(error))) throw error
    // Whoever creates the empty file first may replace it by the complete one.
    await (await open(path, 'wx', 0o600)).close()
    await rename(unfinished, path)
  }
}

/** Returns undefined for an empty folder, and rejects without the folder. */
export async function newestBackup(folder: string) {
  const newest = (await finishedIn(folder)).at(-1)
  if (newest === undefined) return undefined
  const { mtime: at, size: bytes } = await stat(join(folder, newest))
  return { name: newest, at, bytes }
}
