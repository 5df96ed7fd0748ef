import { appendFile, fdatasync, fsync, rmSync } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { askForName, getOpenedFile } from '../../kernel/config/opened-files.ts'
import { ifExists } from '../../kernel/config/read-if-exists.ts'
import {
  nameOfUnfinished,
  removeAbandonedFiles,
  removePath,
  syncFolder,
  unfinishedPath,
} from '../../kernel/config/replace-file.ts'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { isSilent, runOnDisk } from '../../kernel/disk/disk.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import { fileReason } from '../../kernel/errors/why-failed.ts'

const FINISHED = /^vslukh-.*\.backup$/
/** The name of which the hidden names of folders are made in which verifications run. */
export const VERIFICATION = 'vslukh-verify'

/** Returns the name of a backup. Names sort by the time of the backup. */
export function backupName(madeAt: Date): string {
  return `vslukh-${madeAt.toISOString().replaceAll(':', '-')}.backup`
}

/** Creates the folder only directly in DATA_DIR, because elsewhere its disk may not be mounted. */
export async function makeBackupFolder(folder: string, dataDir: string): Promise<void> {
  if (dirname(folder) === dataDir) {
    await runOnDisk(folder, () => mkdir(folder, { mode: 0o700 })).catch((cause) => {
      if (errorCode(cause) !== 'EEXIST') throw explainFileError(cause, `Не записано: ${folder}`)
    })
  }
  await requireBackupFolder(folder)
}

/** Throws BackupError if the folder does not exist, is not a folder, or its disk is silent. */
export async function requireBackupFolder(folder: string): Promise<void> {
  const found = await runOnDisk(folder, () => ifExists(stat(folder))).catch((error) => {
    throw explainFileError(error, `BACKUP_DIR (${folder})`)
  })
  if (found?.isDirectory()) return
  throw new BackupError(
    found
      ? `${folder} — файл, а нужна папка. Исправьте BACKUP_DIR.`
      : `Папки BACKUP_DIR (${folder}) нет. Подключите её диск или создайте её.`,
  )
}

async function namesOfBackups(folder: string): Promise<string[]> {
  const names = await runOnDisk(folder, () => readdir(folder))
  return names.filter((name) => FINISHED.test(name)).sort()
}

/** Returns when the oldest backup in a folder was made; undefined if there is none or no folder. */
export async function oldestBackup(folder: string): Promise<Date | undefined> {
  const [oldest = ''] = (await ifExists(namesOfBackups(folder))) ?? []
  const [, hour, minute, rest] = /^vslukh-(.*T\d\d)-(\d\d)-(.*)\.backup$/.exec(oldest) ?? []
  return hour === undefined ? undefined : new Date(`${hour}:${minute}:${rest}`)
}

type KeptBackups = {
  keep: number
  /** The path of the backup just made. A wrong clock may have dated older ones after it. */
  made: string
  /** The time of the backup that was verified last, which is kept too. */
  verifiedCopy: Date | null
  /** Whether a file is a backup of this wall: others may leave theirs in the same folder. */
  isOwn: (path: string) => Promise<boolean>
}

export async function removeOldest(
  folder: string,
  { keep, made, verifiedCopy, isOwn }: KeptBackups,
): Promise<void> {
  const kept = [basename(made), verifiedCopy && backupName(verifiedCopy)]
  const own: string[] = []
  for (const name of await namesOfBackups(folder)) {
    if (await isOwn(join(folder, name))) own.push(name)
  }
  const old = own.slice(0, -keep).filter((name) => !kept.includes(name))
  for (const name of old) await runOnDisk(folder, () => rm(join(folder, name)))
}

/** The age of leftovers: longer than a backup or a verification takes. */
const IDLE_MS = 3 * 3_600_000

/** Removes what killed backups and verifications left. PostgreSQL ends itself without its files. */
export async function removeLeftovers(folder: string, idleMs = IDLE_MS): Promise<void> {
  const names = await runOnDisk(folder, () => readdir(folder))
  for (const name of names.filter(isUnfinished)) {
    const path = join(folder, name)
    const found = await runOnDisk(folder, () => ifExists(lstat(path)))
    // The folder may be shared, so only files of this user are removed.
    if (found?.uid !== process.getuid?.() || Date.now() - Number(found?.mtimeMs) <= idleMs) continue
    await runOnDisk(folder, () => removePath(path))
  }
}

function isUnfinished(name: string): boolean {
  const final = nameOfUnfinished(name) ?? ''
  return final === VERIFICATION || FINISHED.test(final)
}

/** A backup cannot be made, read or restored. */
export class BackupError extends StartError {}

/** Returns the error that names the file or folder, or `cause` if its reason is unknown. */
export function explainFileError(cause: unknown, what: string): unknown {
  const reason = fileReason(cause)
  return reason === undefined ? cause : new BackupError(`${what}: ${reason}.`, { cause })
}

/** Throws an error of the code EEXIST if something has this path. */
export async function refuseExisting(path: string): Promise<void> {
  if (getOpenedFile(path) || !(await ifExists(lstat(path)))) return
  throw Object.assign(new Error(`EEXIST: file already exists, open '${path}'`), {
    code: 'EEXIST',
    path,
  })
}

/** Appends to a file that is being written. */
export type Append = (chunk: Uint8Array) => Promise<void>

/** The bytes after which a file is written to its disk, so that no single call takes long. */
const SYNC_BYTES = 16 * 1024 * 1024

const append = promisify(appendFile)
const sync = promisify(fsync)
const dataSync = promisify(fdatasync)

function appendTo(fd: number, folder: string): Append {
  let unsynced = 0
  return async (chunk) => {
    await runOnDisk(folder, () => append(fd, chunk))
    unsynced += chunk.length
    if (unsynced < SYNC_BYTES) return
    await runOnDisk(folder, () => dataSync(fd))
    unsynced = 0
  }
}

/** Gives a complete file its name. A name that a power cut could undo is taken back. */
export async function nameFile(unfinished: string, path: string): Promise<void> {
  // A rename would replace a file that was created meanwhile.
  await refuseExisting(path)
  await rename(unfinished, path)
  await syncFolder(dirname(path)).catch(async (cause) => {
    await removePath(path)
    throw cause
  })
}

/** Writes a new file, which gets its name when it is complete. Throws BackupError if it exists. */
export async function writeNewFile<T>(
  path: string,
  write: (append: Append) => Promise<T>,
): Promise<T> {
  try {
    const opened = getOpenedFile(path)
    if (opened?.fd === undefined) return await writeHere(path, write)
    const result = await writeInto(opened.fd, dirname(path), write)
    await askForName(opened)
    return result
  } catch (cause) {
    throw explainFileError(cause, `Не записано: ${path}`)
  }
}

async function writeInto<T>(
  fd: number,
  folder: string,
  write: (append: Append) => Promise<T>,
): Promise<T> {
  const result = await write(appendTo(fd, folder))
  // Without it, a power cut after the rename could leave an empty file.
  await runOnDisk(folder, () => sync(fd))
  return result
}

async function writeHere<T>(path: string, write: (append: Append) => Promise<T>): Promise<T> {
  const folder = dirname(path)
  const unfinished = unfinishedPath(path)
  const removeAtExit = () => {
    if (!isSilent(folder)) rmSync(unfinished, { force: true })
  }
  // An interrupted command exits before this function ends.
  process.once('exit', removeAtExit)
  try {
    const file = await runOnDisk(folder, async () => {
      await refuseExisting(path)
      await removeAbandonedFiles(folder)
      return open(unfinished, 'wx', 0o600)
    })
    const result = await writeInto(file.fd, folder, write).finally(() =>
      runOnDisk(folder, () => file.close()),
    )
    await runOnDisk(folder, () => nameFile(unfinished, path))
    return result
  } finally {
    process.off('exit', removeAtExit)
    await runOnDisk(folder, () => removePath(unfinished)).catch(() => {})
  }
}

/** Returns the names of backups, newest first. Rejects if the folder does not exist. */
export async function newestBackups(folder: string): Promise<string[]> {
  return (await namesOfBackups(folder)).reverse()
}

export async function sizeOfBackup(folder: string, name: string): Promise<number> {
  const { size } = await runOnDisk(folder, () => stat(join(folder, name)))
  return size
}
