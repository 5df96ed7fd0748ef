import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findCounterDifferences } from '../../features/posts/counters.task.ts'
import { readPostList, wallPosts } from '../../features/posts/post-lists.ts'
import {
  removeAbandonedFiles,
  removePath as removeAll,
  unfinishedPath,
} from '../../kernel/config/replace-file.ts'
import { openDatabase } from '../../kernel/db/database.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts'
import { readFingerprint, readPostgresMajor } from '../start/installation.ts'
import { explainStartFailure } from '../start/start-failure.ts'
import { BackupError, VERIFICATION } from './backup-folder.ts'
import { loadIntoScratch } from './load-scratch.repository.ts'
import type { Manifest } from './manifest.ts'
import type { Progress } from './progress.ts'
import { readRestorable } from './restore.service.ts'
import { scratchUrl, withRestoreLock } from './scratch-schema.repository.ts'

const POOL = { connections: 2, statementTimeoutMs: 3_600_000, applicationName: 'vslukh verify' }

type Options = {
  /** Where to verify if PostgreSQL cannot run beside the backup. */
  dataDir?: string | undefined
  /** The major version of the wall's PostgreSQL. */
  major?: string | undefined
  onProgress?: Progress
  signal?: AbortSignal | undefined
}

type Verification = { manifest: Manifest; posts: number; fingerprint: Buffer | null; major: string }

/**
 * Loads a backup into a throwaway PostgreSQL, and compares sums and counters. Uses the wall's
 * version of PostgreSQL if it is installed, and otherwise the embedded one. Throws BackupError.
 */
export async function verifyBackup(
  path: string,
  { dataDir, major, onProgress = () => {}, signal }: Options = {},
): Promise<Verification> {
  const manifest = await readRestorable(path, { signal, onProgress })
  const { connectionString: url, remove } = await startThrowaway(
    verificationFolders(dirname(path), dataDir),
    {
      major,
      signal,
    },
  )
  const stop = () => void remove()
  signal?.addEventListener('abort', stop)
  try {
    const backup = { path, manifest }
    await withRestoreLock(url, (client) => loadIntoScratch(client, url, { backup, onProgress }))
    return { manifest, ...(await readWall(scratchUrl(url), onProgress)) }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
    await remove()
  }
}

const DISK_FULL = /не (?:осталось|хватает) места/

type Throwaway = Pick<Options, 'major' | 'signal'>

/** Starts PostgreSQL in a new folder. `remove` stops it and deletes its files. */
async function startThrowaway(parents: string[], { major, signal }: Throwaway) {
  const options = { major, signal, say() {} }
  let failure: unknown
  for (const parent of parents) {
    const dataDir = unfinishedPath(join(parent, VERIFICATION))
    const removeFiles = () => removeAll(dataDir)
    let isMade = false
    try {
      await removeAbandonedFiles(parent)
      await mkdir(dataDir, { mode: 0o700 })
      isMade = true
      const { connectionString, stop } = await startEmbeddedPostgres({ dataDir, ...options })
      return { connectionString, remove: () => stop().then(removeFiles) }
    } catch (error) {
      failure = error
      if (isMade) await removeFiles()
      if (signal?.aborted || DISK_FULL.test(explainStartFailure(error))) break
    }
  }
  throw failure
}

async function readWall(
  url: string,
  onProgress: Progress,
): Promise<Omit<Verification, 'manifest'>> {
  await using db = openDatabase(url, () => {}, POOL).db
  const [difference] = await findCounterDifferences(db, (done, total) =>
    onProgress('count', done, total),
  )
  if (difference) {
    const { counter, id, kept, rows } = difference
    throw new BackupError(
      `Копия неверна: счётчик ${counter} ${id} равен ${kept}, а строк ${rows}. Исправьте стену (recount) и сделайте новую.`,
    )
  }
  const { total } = await readPostList(db, wallPosts, {}, null)
  const fingerprint = await readFingerprint(db)
  return { posts: total, fingerprint, major: await readPostgresMajor(db) }
}

/** Returns folders to verify in. The others serve if PostgreSQL cannot run beside the backup. */
export function verificationFolders(folder: string, dataDir?: string): string[] {
  // DATA_DIR comes before /tmp, which may be in memory.
  return [...new Set([folder, ...(dataDir === undefined ? [] : [dataDir]), tmpdir()])]
}
