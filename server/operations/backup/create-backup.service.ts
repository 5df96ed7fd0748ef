import { existsSync } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { productVersion } from '../../kernel/db/migrate.ts'
import { syncFolder } from '../start/data-dir.ts'
import { BackupWriter, type Progress } from './backup-file.ts'
import { backupName, explainWriting, nameFile, unfinishedPath } from './backup-folder.ts'
import type { Manifest, Part } from './manifest.ts'
import {
  copyOut,
  LEFT_OUT,
  selectMigration,
  selectSequences,
  selectTables,
  setCopyFormat,
} from './tables.repository.ts'

type Options = {
  secret: string | null
  onProgress?: Progress
  now?: Date
  /** Aborting it makes the backup reject, and leaves no file. */
  signal?: AbortSignal
}

/** Returns the file for a backup to a file or into a folder, where names sort by time. */
export async function backupPath(target: string, now = new Date()): Promise<string> {
  const isFolder = await stat(target).then(
    (found) => found.isDirectory(),
    () => target.endsWith('/'),
  )
  if (!isFolder) return target
  return join(target, backupName(now))
}

/**
 * Writes one snapshot of all tables while people write on. The file appears under its name once it
 * is whole and on the disk. Throws BackupError if it exists or cannot be written.
 */
export async function createBackup(
  url: string,
  path: string,
  options: Options,
): Promise<{ bytes: number; manifest: Manifest }> {
  const unfinished = unfinishedPath(path)
  try {
    // Naming the complete file would refuse this, too, after all the work.
    if (existsSync(path)) throw Object.assign(new Error(`${path} exists`), { code: 'EEXIST' })
    const file = await open(unfinished, 'wx', 0o600)
    const made = await writeInto(file, url, options).finally(() => file.close())
    await nameFile(unfinished, path)
    await syncFolder(dirname(path))
    return made
  } catch (cause) {
    throw explainWriting(cause, path)
  } finally {
    await rm(unfinished, { force: true })
  }
}

async function writeInto(
  file: FileHandle,
  url: string,
  { secret, onProgress = () => {}, now = new Date(), signal }: Options,
): Promise<{ bytes: number; manifest: Manifest }> {
  const client = new pg.Client({ connectionString: url, application_name: 'vslukh backup' })
  client.on('error', () => {})
  await client.connect()
  try {
    await setCopyFormat(client)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const writer = new BackupWriter(file, signal)
    const { migration, version } = await selectMigration(client)
    const parts = await copyTables(client, { writer, onProgress })
    const manifest: Manifest = {
      format: 1,
      product: 'vslukh',
      version: version ?? productVersion(),
      migration,
      createdAt: now.toISOString(),
      secret,
      parts,
      leftOut: LEFT_OUT,
      sequences: await selectSequences(client),
    }
    await writer.finish(manifest)
    return { bytes: writer.bytes, manifest }
  } finally {
    await client.end()
  }
}

async function copyTables(
  client: pg.Client,
  { writer, onProgress }: { writer: BackupWriter; onProgress: Progress },
): Promise<Part[]> {
  const parts: Part[] = []
  for (const shape of await selectTables(client)) {
    const { table, columns } = shape
    onProgress(table)
    parts.push({ table, columns, ...(await writer.addPart(copyOut(client, shape))) })
  }
  return parts
}
