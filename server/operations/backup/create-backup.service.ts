import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findOpenedFile } from '../../kernel/config/opened-files.ts'
import { ifExists } from '../../kernel/config/read-if-exists.ts'
import { openClient } from '../../kernel/db/database.ts'
import { productVersion } from '../../kernel/db/migrate.ts'
import { BackupWriter } from './backup-file.ts'
import { type Append, backupName, explainFileError, writeNewFile } from './backup-folder.ts'
import type { Manifest, Part } from './manifest.ts'
import type { Progress } from './progress.ts'
import {
  copyOut,
  EXCLUDED_TABLES,
  estimateRows,
  lockTables,
  selectMigration,
  selectSequences,
  selectTables,
} from './tables.repository.ts'

type Options = {
  secret: string | null
  onProgress?: Progress
  now?: Date
  /** Aborting the signal makes the backup reject, and leaves no file. */
  signal?: AbortSignal
}

/** Returns `target`, or the path of a new backup in it if it is a folder. */
export async function backupPath(target: string, now = new Date()): Promise<string> {
  const opened = findOpenedFile(target)
  if (opened) return opened.path
  const found = await ifExists(stat(target)).catch((cause) => {
    throw explainFileError(cause, `Не записано: ${target}`)
  })
  const isFolder = found ? found.isDirectory() : target.endsWith('/')
  return isFolder ? join(target, backupName(now)) : target
}

/** Writes one snapshot of all tables while the wall stays in use. Throws BackupError. */
export function createBackup(url: string, path: string, options: Options) {
  return writeNewFile(path, (append) => writeInto(append, url, options))
}

async function writeInto(
  append: Append,
  url: string,
  { secret, onProgress = () => {}, now = new Date(), signal }: Options,
): Promise<{ bytes: number; manifest: Manifest }> {
  await using client = await openClient(url, 'vslukh backup')
  const tables = await selectTables(client)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  // A table that a migration rewrites after the snapshot would seem empty.
  await lockTables(client, tables)
  const writer = new BackupWriter(append, signal)
  const { migration, version } = await selectMigration(client)
  const parts: Part[] = []
  const total = await estimateRows(client)
  let before = 0
  for (const shape of await selectTables(client)) {
    const onRows = (rows: number) => onProgress('copy', before + rows, total)
    const part = await writer.addPart(copyOut(client, shape), onRows)
    parts.push({ ...shape, ...part })
    before += part.rows
  }
  const manifest: Manifest = {
    format: 1,
    product: 'vslukh',
    version: version ?? productVersion(),
    migration,
    createdAt: now.toISOString(),
    secret,
    parts,
    leftOut: EXCLUDED_TABLES,
    sequences: await selectSequences(client),
  }
  await writer.finish(manifest)
  return { bytes: writer.bytes, manifest }
}
