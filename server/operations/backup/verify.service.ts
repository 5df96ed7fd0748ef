import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findCounterDifferences } from '../../features/posts/counters.task.ts'
import { readPostList, wall } from '../../features/posts/post-lists.ts'
import { openDatabase } from '../../kernel/db/database.ts'
import { migrate } from '../../kernel/db/migrate.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts'
import { readFingerprint } from '../start/installation.ts'
import { BackupError } from './backup-error.ts'
import type { Progress } from './backup-file.ts'
import { compareScratch, loadIntoScratch, migrateScratch } from './load-scratch.repository.ts'
import type { Manifest } from './manifest.ts'
import { readRestorable } from './restore.service.ts'
import { moveScratchIntoPlace, withRestoreLock } from './scratch-schema.repository.ts'
import { makeVerifyFolder, verifyParents } from './verify-folder.ts'

const POOL = { connections: 2, statementTimeoutMs: 3_600_000, applicationName: 'vslukh verify' }

type Options = {
  onProgress?: Progress
  /** Aborting it makes the verification reject, after it has removed its files. */
  signal?: AbortSignal | undefined
}

/** How many posts are on the wall, and the fingerprint of its secret. */
type Verified = { manifest: Manifest; posts: number; fingerprint: Buffer | null }

/** Restores into a throwaway PostgreSQL, and compares sums and counters. Throws BackupError. */
export async function verifyBackup(
  path: string,
  { onProgress = () => {}, signal }: Options = {},
): Promise<Verified> {
  const manifest = await readRestorable(path)
  const { connectionString: url, remove } = await startThrowaway(dirname(path), signal)
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

/** `remove` stops the PostgreSQL and removes its files, so that every statement fails. */
async function startThrowaway(folder: string, signal: AbortSignal | undefined) {
  let failure: unknown
  for (const parent of verifyParents(folder)) {
    let dataDir: string | undefined
    try {
      dataDir = await makeVerifyFolder(parent)
      return await startIn(dataDir, signal)
    } catch (error) {
      failure = error
      if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true })
      if (signal?.aborted || DISK_FULL.test(String(error))) break
    }
  }
  throw failure
}

async function startIn(dataDir: string, signal: AbortSignal | undefined) {
  const silent = { say() {}, onLost() {}, ...(signal && { signal }) }
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
    return { posts: total, fingerprint: await readFingerprint({ db }) }
  } finally {
    await close()
  }
}
