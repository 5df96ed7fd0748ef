import { randomBytes } from 'node:crypto'
import { type FileHandle, link, open, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { errorCode } from '../db/database-errors.ts'
import { productVersion } from '../db/migrate.ts'
import { BACKED_UP } from './backed-up-tables.ts'
import { BackupError } from './backup-error.ts'
import { BackupWriter, type Manifest, type Part, type Progress } from './backup-file.ts'
import {
  copyOut,
  selectMigration,
  selectSequences,
  selectTables,
  setCopyFormat,
} from './tables.repository.ts'

type Options = { secret: string | null; onProgress?: Progress; now?: Date }

/** Returns the file that a backup to a file or into a folder is written to. Names in a folder sort by time. */
export async function backupPath(target: string, now = new Date()): Promise<string> {
  const isFolder = await stat(target).then(
    (found) => found.isDirectory(),
    () => target.endsWith('/'),
  )
  if (!isFolder) return target
  return join(target, `vslukh-${now.toISOString().replaceAll(':', '-')}.backup`)
}

/**
 * Writes a backup of the database at `url` into a new file that only its owner can read. All tables are read in one snapshot,
 * and people go on writing meanwhile. The file appears under its name when it is complete and on the disk. Throws BackupError
 * where the file exists or cannot be written.
 */
export async function createBackup(
  url: string,
  path: string,
  { secret, onProgress = () => {}, now = new Date() }: Options,
): Promise<{ bytes: number; manifest: Manifest }> {
  // A name of its own, so that two backups at once cannot write into one file.
  const unfinished = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
  try {
    const file = await open(unfinished, 'wx', 0o600)
    const made = await writeInto(file, url, { secret, onProgress, now }).finally(() => file.close())
    // Unlike a rename, a link never replaces a file.
    await link(unfinished, path)
    await syncFolder(dirname(path))
    return made
  } catch (cause) {
    throw explain(cause, path)
  } finally {
    await rm(unfinished, { force: true })
  }
}

async function writeInto(
  file: FileHandle,
  url: string,
  { secret, onProgress, now }: Required<Options>,
): Promise<{ bytes: number; manifest: Manifest }> {
  const client = new pg.Client({ connectionString: url, application_name: 'vslukh backup' })
  client.on('error', () => {})
  await client.connect()
  try {
    await setCopyFormat(client)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const writer = new BackupWriter(file)
    const migration = await selectMigration(client)
    const parts = await copyTables(client, writer, onProgress)
    const manifest: Manifest = {
      format: 1,
      product: 'vslukh',
      version: productVersion(),
      migration,
      createdAt: now.toISOString(),
      secret,
      parts,
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
  writer: BackupWriter,
  onProgress: Progress,
): Promise<Part[]> {
  const shapes = new Map((await selectTables(client)).map((shape) => [shape.table, shape]))
  const parts: Part[] = []
  for (const table of BACKED_UP) {
    const shape = shapes.get(table)
    if (!shape) throw new Error(`the database has no table ${table}`)
    onProgress(table)
    const part = await writer.addPart(copyOut(client, shape))
    parts.push({ table, columns: shape.columns, ...part })
  }
  return parts
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

const REASONS: Record<string, string> = {
  EEXIST: 'такой файл уже есть',
  ENOENT: 'такой папки нет',
  ENOTDIR: 'такой папки нет',
  EACCES: 'нет права писать сюда',
  EPERM: 'нет права писать сюда',
  EROFS: 'диск только для чтения',
  ENOSPC: 'на диске не осталось места',
  EDQUOT: 'на диске не осталось места',
}

function explain(cause: unknown, path: string): unknown {
  const reason = REASONS[errorCode(cause)]
  return reason ? new BackupError(`Копия ${path} не сделана: ${reason}.`, { cause }) : cause
}
