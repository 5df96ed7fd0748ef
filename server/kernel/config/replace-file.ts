import { hash, randomBytes } from 'node:crypto'
import { lstat, open, readdir, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { errorCode } from '../db/database-errors.ts'
import { ifExists } from './read-if-exists.ts'

/** Writes a folder to the disk, so that a rename in it survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Removes a file or folder if it exists. Tries twice, because one call may fail on a bad disk. */
export async function removePath(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 }
  await rm(path, options).catch(() => rm(path, options))
}

/** The id of a process means nothing on another machine, or in another container, with the same disk. */
const MACHINE = hash('sha256', hostname()).slice(0, 6)
/** Ends with the machine, the process and a random part. */
const UNFINISHED = /^\.(.+)\.([0-9a-f]{6})-(\d+)-[0-9a-f]{6}$/

/** Returns the hidden path of a file or folder until it is complete. */
export function unfinishedPath(path: string): string {
  const suffix = `${MACHINE}-${process.pid}-${randomBytes(3).toString('hex')}`
  return join(dirname(path), `.${basename(path)}.${suffix}`)
}

/** Returns the name that an unfinished file or folder was to get; undefined if it is none. */
export function nameOfUnfinished(name: string): string | undefined {
  return UNFINISHED.exec(name)?.[1]
}

/** Removes the unfinished files and folders of killed processes from a folder. Never rejects. */
export async function removeAbandonedFiles(folder: string): Promise<void> {
  // What is left in a folder that cannot be listed does no harm to what is written there.
  for (const name of (await readdir(folder).catch(() => [])).filter(isAbandoned)) {
    await removeOwn(join(folder, name)).catch(() => {})
  }
}

function isAbandoned(name: string): boolean {
  const [, , machine, pid] = UNFINISHED.exec(name) ?? []
  if (machine !== MACHINE) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return errorCode(error) === 'ESRCH'
  }
}

/** In a folder that others may write, root must not remove what they have put there. */
async function removeOwn(path: string): Promise<void> {
  const found = await ifExists(lstat(path))
  if (found?.uid === process.getuid?.()) await removePath(path)
}

type Replacing = { mode?: number; owner?: { uid: number; gid: number } }

/** Replaces a file as a whole: a failure or a power cut leaves the old content or the new one. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, owner }: Replacing = {},
): Promise<void> {
  await removeAbandonedFiles(dirname(path))
  const fresh = unfinishedPath(path)
  try {
    await writeFresh(fresh, content, { mode, ...(owner && { owner }) })
    await rename(fresh, path)
  } catch (error) {
    await removePath(fresh)
    throw error
  }
  await syncFolder(dirname(path))
}

async function writeFresh(
  path: string,
  content: string | Uint8Array,
  { mode, owner }: Replacing & { mode: number },
): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(content)
  if (owner) await file.chown(owner.uid, owner.gid)
  await file.chmod(mode)
  await file.sync()
}
