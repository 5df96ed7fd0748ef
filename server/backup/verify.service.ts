import { rm } from 'node:fs/promises'
import { openDatabase } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { readPostList, wall } from '../posts/post-lists.ts'
import { readFingerprint } from '../start/installation.ts'
import { BackupError } from './backup-error.ts'
import type { Progress } from './backup-file.ts'
import { compareScratch, loadIntoScratch, migrateScratch } from './load-scratch.repository.ts'
import type { Manifest } from './manifest.ts'
import { readRestorable } from './restore.service.ts'
import { moveScratchIntoPlace, withRestoreLock } from './scratch-schema.repository.ts'
import { makeVerifyFolder } from './verify-folder.ts'

const POOL = { connections: 2, statementTimeoutMs: 3_600_000, applicationName: 'vslukh verify' }

type Options = {
  onProgress?: Progress
  folder?: string
  /** Aborting it makes the verification reject, after it has removed its files. */
  signal?: AbortSignal | undefined
}

/** What a backup that is right contains: how many posts are on its wall, and the fingerprint of the wall's secret. */
type Verified = { manifest: Manifest; posts: number; fingerprint: Buffer | null }

/**
 * Restores a backup into a fresh embedded PostgreSQL, which is removed afterwards: compares the sums of all tables, compares
 * every counter with its rows, and reads the wall as a visitor. `folder` is where it makes its files (the system's temporary
 * folder). Throws BackupError where the backup is wrong.
 */
export async function verifyBackup(
  path: string,
  { onProgress = () => {}, folder, signal }: Options = {},
): Promise<Verified> {
  const manifest = await readRestorable(path)
  const dataDir = await makeVerifyFolder(folder)
  try {
    return await withThrowawayPostgres(dataDir, signal, async (url) => {
      await restoreAndCompare(url, { path, manifest }, onProgress)
      return { manifest, ...(await readWall(url)) }
    })
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Runs `work` with a new PostgreSQL. Aborting the signal stops that, by which every statement of `work` fails. */
async function withThrowawayPostgres<T>(
  dataDir: string,
  signal: AbortSignal | undefined,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const silent = { say() {}, onLost() {}, ...(signal && { signal }) }
  const postgres = await startEmbeddedPostgres({ dataDir, ...silent })
  const stop = () => void postgres.stop()
  signal?.addEventListener('abort', stop)
  try {
    return await work(postgres.connectionString)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
    await postgres.stop()
  }
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

/** Returns the number of posts on the wall, as its first page tells a visitor. */
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
    return { posts: total, fingerprint: await readFingerprint({ db }) }
  } finally {
    await close()
  }
}
