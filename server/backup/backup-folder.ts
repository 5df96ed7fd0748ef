import { randomBytes } from 'node:crypto'
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorCode } from '../db/database-errors.ts'

const FINISHED = /^vslukh-.*\.backup$/
const UNFINISHED = /^\.vslukh-.*\.backup\.[0-9a-f]{12}$/
/** The codes of a folder that knows no links, as on exFAT. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** Returns the name of a backup in a folder. Names sort by the time at which the backups were made. */
export function backupName(madeAt: Date): string {
  return `vslukh-${madeAt.toISOString().replaceAll(':', '-')}.backup`
}

/** Returns where a backup is written until it is complete: a name of its own, so that two at once cannot write into one file. */
export function unfinishedPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
}

/** Gives a complete file its name. Unlike a rename alone, this never replaces a file: it then throws the error EEXIST. */
export async function nameFile(
  unfinished: string,
  path: string,
  makeLink: typeof link = link,
): Promise<void> {
  try {
    await makeLink(unfinished, path)
  } catch (error) {
    if (!NO_LINKS.includes(errorCode(error))) throw error
    // Whoever creates the empty file first may put a backup in its place.
    await (await open(path, 'wx', 0o600)).close()
    await rename(unfinished, path)
  }
}

type Kept = {
  /** How many of the newest are kept. */
  keep: number
  /** When the backup that was verified last was made; it is kept, too. */
  verifiedCopy: Date | null
}

/** Removes the nightly backups beyond those that are kept. */
export async function removeOldest(folder: string, { keep, verifiedCopy }: Kept): Promise<void> {
  const names = (await readdir(folder)).filter((name) => FINISHED.test(name)).sort()
  const verified = verifiedCopy && backupName(verifiedCopy)
  const old = names.slice(0, -keep).filter((name) => name !== verified)
  for (const name of old) await rm(join(folder, name))
}

/** Removes the unfinished files of backups whose process was killed: nothing has been written to them for `idleMs`. */
export async function removeUnfinished(folder: string, idleMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!UNFINISHED.test(name)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > idleMs) await rm(path, { force: true })
  }
}
