import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { readPostList, wall } from '../posts/post-lists.ts'
import { BackupError } from './backup-error.ts'
import type { Manifest, Progress } from './backup-file.ts'
import { readRestorable } from './restore.service.ts'
import {
  compareScratch,
  loadIntoScratch,
  migrateScratch,
  moveScratchIntoPlace,
  withRestoreLock,
} from './scratch-schema.repository.ts'

const POOL = { connections: 2, statementTimeoutMs: 3_600_000, applicationName: 'vslukh verify' }

type Options = { onProgress?: Progress; folder?: string }

/**
 * Restores a backup into a fresh embedded PostgreSQL, which is removed afterwards: compares the sums of all tables, compares
 * every counter with its rows, and reads the wall as a visitor. `folder` is where it makes its files (the system's temporary
 * folder). Returns the manifest and how many posts are on the wall. Throws BackupError where the backup is wrong.
 */
export async function verifyBackup(
  path: string,
  { onProgress = () => {}, folder = tmpdir() }: Options = {},
): Promise<{ manifest: Manifest; posts: number }> {
  const manifest = await readRestorable(path)
  const dataDir = await mkdtemp(join(folder, 'vslukh-verify-'))
  try {
    const postgres = await startEmbeddedPostgres({ dataDir, say: () => {}, onLost: () => {} })
    try {
      const url = postgres.connectionString
      await restoreAndCompare(url, { path, manifest }, onProgress)
      return { manifest, posts: await readWall(url) }
    } finally {
      await postgres.stop()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
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
async function readWall(url: string): Promise<number> {
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
    return total
  } finally {
    await close()
  }
}
