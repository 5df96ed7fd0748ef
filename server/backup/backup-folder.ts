import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Names of backups that are whole. */
export const FINISHED = /^vslukh-.*\.backup$/
const UNFINISHED = /^\.vslukh-.*\.backup\.[0-9a-f]{12}$/

/** Returns the name of a backup in a folder. Names sort by the time at which the backups were made. */
export function backupName(madeAt: Date): string {
  return `vslukh-${madeAt.toISOString().replaceAll(':', '-')}.backup`
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
