import { lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts'
import { findRunning } from '../embedded-postgres/pid-file.ts'

const NAME = 'vslukh-verify-'

/**
 * Beside the backup there is room for the wall. The temporary folder, which may be in memory,
 * serves where no PostgreSQL can run: on a read-only disk, or one without owners and modes.
 */
export function verifyParents(folder: string): string[] {
  return [folder, tmpdir()]
}

export function makeVerifyFolder(parent: string): Promise<string> {
  return mkdtemp(join(parent, NAME))
}

/** Removes the folders of killed verifications, and stops the PostgreSQL that still runs in one. */
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

/** Returns false if somebody still uses the PostgreSQL. */
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
