import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { MIGRATIONS, productVersion } from '../db/migrate.ts'
import { BACKED_UP, LEFT_OUT } from './backed-up-tables.ts'
import { explainWriting } from './backup-error.ts'
import { BackupWriter, type Manifest, type Part, type Progress } from './backup-file.ts'
import { backupName } from './backup-folder.ts'
import {
  copyOut,
  selectMigrations,
  selectReferences,
  selectSequences,
  selectTables,
  setCopyFormat,
} from './tables.repository.ts'
import { nameFile, unfinishedPath } from './unfinished-file.ts'

type Options = {
  secret: string | null
  onProgress?: Progress
  now?: Date
  /** Aborting it makes the backup reject, and leaves no file. */
  signal?: AbortSignal
}

/** Returns the file that a backup to a file or into a folder is written to. Names in a folder sort by time. */
export async function backupPath(target: string, now = new Date()): Promise<string> {
  const isFolder = await stat(target).then(
    (found) => found.isDirectory(),
    () => target.endsWith('/'),
  )
  if (!isFolder) return target
  return join(target, backupName(now))
}

/**
 * Writes a backup of the database at `url` into a new file that only its owner can read. All tables are read in one snapshot,
 * and people go on writing meanwhile. The file appears under its name when it is complete and on the disk. Throws BackupError
 * where the file exists or cannot be written.
 */
export async function createBackup(
  url: string,
  path: string,
  { secret, onProgress = () => {}, now = new Date(), signal }: Options,
): Promise<{ bytes: number; manifest: Manifest }> {
  const unfinished = unfinishedPath(path)
  try {
    const file = await open(unfinished, 'wx', 0o600)
    const options = { secret, onProgress, now, signal }
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
  {
    secret,
    onProgress,
    now,
    signal,
  }: Required<Omit<Options, 'signal'>> & { signal: AbortSignal | undefined },
): Promise<{ bytes: number; manifest: Manifest }> {
  const client = new pg.Client({ connectionString: url, application_name: 'vslukh backup' })
  client.on('error', () => {})
  await client.connect()
  try {
    await setCopyFormat(client)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const writer = new BackupWriter(file, signal)
    const migrations = await selectMigrations(client)
    const tables = await tablesOf(client, migrations.migration)
    const parts = await copyTables(client, tables, { writer, onProgress })
    const manifest: Manifest = {
      format: 1,
      product: 'vslukh',
      version: productVersion(),
      ...migrations,
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

/**
 * Returns the tables of the backup, each after those that it refers to. Where a newer version has migrated the database, this one
 * cannot know which of the tables that were added may stay out, so it takes all.
 */
async function tablesOf(client: pg.Client, migration: string): Promise<string[]> {
  if (Object.hasOwn(MIGRATIONS, migration)) return BACKED_UP
  const known = [...BACKED_UP, ...LEFT_OUT] as string[]
  const all = (await selectTables(client)).map(({ table }) => table)
  const waiting = new Set([...BACKED_UP, ...all.filter((table) => !known.includes(table))])
  const references = await selectReferences(client)
  const sorted: string[] = []
  const take = (table: string) => {
    if (!waiting.delete(table)) return
    for (const other of references.get(table) ?? []) take(other)
    sorted.push(table)
  }
  for (const table of [...waiting]) take(table)
  return sorted
}

async function copyTables(
  client: pg.Client,
  tables: string[],
  { writer, onProgress }: { writer: BackupWriter; onProgress: Progress },
): Promise<Part[]> {
  const shapes = new Map((await selectTables(client)).map((shape) => [shape.table, shape]))
  const parts: Part[] = []
  for (const table of tables) {
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
