import { lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findCounterDifferences } from '../../features/posts/counters.task.ts'
import { readPostList, wall } from '../../features/posts/post-lists.ts'
import { openDatabase } from '../../kernel/db/database.ts'
import { migrate } from '../../kernel/db/migrate.ts'
import { versionOf } from '../embedded-postgres/cluster.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts'
import { findRunning } from '../embedded-postgres/pid-file.ts'
import { readFingerprint, readPostgresMajor } from '../start/installation.ts'
import type { Progress } from './backup-file.ts'
import { BackupError } from './backup-folder.ts'
import { compareScratch, loadIntoScratch, migrateScratch } from './load-scratch.repository.ts'
import type { Manifest } from './manifest.ts'
import { readRestorable } from './restore.service.ts'
import { moveScratchIntoPlace, withRestoreLock } from './scratch-schema.repository.ts'

const POOL = { connections: 2, statementTimeoutMs: 3_600_000, applicationName: 'vslukh verify' }

type Options = {
  /** The major version of the wall's PostgreSQL. */
  major?: string | undefined
  onProgress?: Progress
  /** Aborting it makes the verification reject, after it has removed its files. */
  signal?: AbortSignal | undefined
}

/** `major` is the version of PostgreSQL that held the restored wall. */
type Verified = { manifest: Manifest; posts: number; fingerprint: Buffer | null; major: string }

/**
 * Restores into a throwaway PostgreSQL, and compares sums and counters. It is of the wall's version
 * if the machine has that installed, and otherwise the embedded one. Throws BackupError.
 */
export async function verifyBackup(
  path: string,
  { major, onProgress = () => {}, signal }: Options = {},
): Promise<Verified> {
  const manifest = await readRestorable(path)
  const { connectionString: url, remove } = await startThrowaway(dirname(path), { major, signal })
  const stop = () => void remove()
  signal?.addEventListener('abort', stop)
  try {
    await restoreAndCompare(url, { path, manifest }, onProgress)
    return { manifest, ...(await readWall(url)) }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
    await remove()
  }
}

const DISK_FULL = /ENOSPC|No space left/

type Throwaway = Pick<Options, 'major' | 'signal'>

/** `remove` stops the PostgreSQL and removes its files, so that every statement fails. */
async function startThrowaway(folder: string, options: Throwaway) {
  let failure: unknown
  for (const parent of verifyParents(folder)) {
    let dataDir: string | undefined
    try {
      dataDir = await makeVerifyFolder(parent)
      return await startIn(dataDir, options)
    } catch (error) {
      failure = error
      if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true })
      if (options.signal?.aborted || DISK_FULL.test(String(error))) break
    }
  }
  throw failure
}

async function startIn(dataDir: string, { major, signal }: Throwaway) {
  const silent = { say() {}, onLost() {}, major, ...(signal && { signal }) }
  const { connectionString, stop } = await startEmbeddedPostgres({ dataDir, ...silent })
  const remove = async () => {
    await stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { connectionString, remove }
}

async function restoreAndCompare(
  url: string,
  backup: { path: string; manifest: Manifest },
  onProgress: Progress,
): Promise<void> {
  await withRestoreLock(url, async (client) => {
    await loadIntoScratch(client, url, { backup, onProgress })
    await compareScratch(client, backup)
    await migrateScratch(url)
    await moveScratchIntoPlace(client)
  })
  await migrate(url)
}

async function readWall(url: string): Promise<Omit<Verified, 'manifest'>> {
  const { db, close } = openDatabase(url, () => {}, POOL)
  try {
    const [difference] = await findCounterDifferences(db)
    if (difference) {
      const { counter, id, kept, rows } = difference
      throw new BackupError(
        `Копия неверна: счётчик ${counter} ${id} равен ${kept}, а строк ${rows}. Исправьте стену (recount) и сделайте новую.`,
      )
    }
    const { total } = await readPostList(db, wall, {}, null)
    const fingerprint = await readFingerprint(db)
    return { posts: total, fingerprint, major: await readPostgresMajor(db) }
  } finally {
    await close()
  }
}

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
    const options = { dataDir, say() {}, onLost() {}, major: versionOf(cluster) }
    await (await startEmbeddedPostgres(options)).stop()
    return true
  } catch {
    return false
  }
}
