import { lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts'
import { findRunning } from '../embedded-postgres/pid-file.ts'

const NAME = 'vslukh-verify-'

/**
 * Returns where a backup is verified: beside it, where there is room for the wall. The system's temporary folder, which may be in
 * memory, is the way out where no PostgreSQL can run beside it: on a disk for reading, or one without owners and modes.
 */
export function verifyParents(folder: string): string[] {
  return [folder, tmpdir()]
}

/** Makes the folder in which a backup is verified. */
export function makeVerifyFolder(parent: string): Promise<string> {
  return mkdtemp(join(parent, NAME))
}

/**
 * Removes what verifications left behind whose process was killed: folders older than `idleMs`, each with a copy of the wall,
 * and the PostgreSQL that still runs in one. A verification that goes on keeps its folder.
 */
export async function removeLeftVerifications(idleMs: number, parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(NAME)) continue
    const path = join(parent, name)
    // In a folder for everybody, only what this user has made is started or removed.
    const found = await lstat(path).catch(() => undefined)
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue
    if (Date.now() - found.mtimeMs <= idleMs || !(await stopLeftPostgres(path))) continue
    await rm(path, { recursive: true, force: true })
  }
}

/** Stops the PostgreSQL of a verification that was killed. Returns false where somebody still uses it. */
async function stopLeftPostgres(dataDir: string): Promise<boolean> {
  const cluster = await realpath(join(dataDir, 'postgres')).catch(() => undefined)
  if (cluster === undefined || !(await findRunning(cluster))) return true
  try {
    await (await startEmbeddedPostgres({ dataDir, say() {}, onLost() {} })).stop()
    return true
  } catch {
    return false
  }
}
