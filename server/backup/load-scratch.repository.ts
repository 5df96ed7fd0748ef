import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { MIGRATIONS, migrate } from '../db/migrate.ts'
import { BackupError } from './backup-error.ts'
import { countRows, type Manifest, type Part, type Progress, readPart } from './backup-file.ts'
import { SCRATCH, scratchUrl } from './scratch-schema.repository.ts'
import {
  copyInStatement,
  copyOut,
  selectTables,
  setSequences,
  type TableShape,
} from './tables.repository.ts'

const quote = pg.escapeIdentifier

export type Backup = { path: string; manifest: Manifest }
type Loading = { backup: Backup; onProgress: Progress; signal?: AbortSignal | undefined }

/** A column that a newer version of the product has added; its values are loaded as text. */
type UnknownColumn = { table: string; column: string }

/**
 * Loads a backup into an empty scratch schema of the backup's own migration, without the tables that a newer version has added.
 * Returns the columns that it has added, which `migrateScratch` drops. Throws BackupError where the rows of a part are not what
 * the manifest says.
 */
export async function loadIntoScratch(
  client: pg.Client,
  url: string,
  { backup, onProgress, signal }: Loading,
): Promise<UnknownColumn[]> {
  const { sequences, migration } = backup.manifest
  const unknown: UnknownColumn[] = []
  await client.query(`DROP SCHEMA IF EXISTS ${SCRATCH} CASCADE; CREATE SCHEMA ${SCRATCH}`)
  const migrations = Object.entries(MIGRATIONS).filter(([name]) => name <= migration)
  await migrate(scratchUrl(url), { migrations: Object.fromEntries(migrations), schema: SCRATCH })
  await inScratch(client, async () => {
    const shapes = await selectShapes(client)
    const parts = backup.manifest.parts.filter(({ table }) => shapes.has(table))
    const names = parts.map(({ table }) => quote(table)).join(', ')
    await client.query(`BEGIN; TRUNCATE ${names}`)
    for (const { table, columns } of parts) {
      const known = shapes.get(table)?.columns ?? []
      for (const column of columns.filter((name) => !known.includes(name))) {
        unknown.push({ table, column })
        await client.query(`ALTER TABLE ${quote(table)} ADD ${quote(column)} text`)
      }
    }
    for (const part of parts) {
      onProgress(part.table)
      await loadPart(client, part, { backup, signal })
    }
    await setSequences(
      client,
      sequences.filter(({ table, column }) => shapes.get(table)?.columns.includes(column)),
    )
    await client.query('COMMIT; ANALYZE')
  })
  return unknown
}

async function selectShapes(client: pg.Client): Promise<Map<string, TableShape>> {
  return new Map((await selectTables(client)).map((shape) => [shape.table, shape]))
}

async function loadPart(
  client: pg.Client,
  part: Part,
  { backup, signal }: Omit<Loading, 'onProgress'>,
): Promise<void> {
  const counted = countRows()
  const target = client.query(copyFrom(copyInStatement(part)))
  const steps = [...readPart(backup.path, part), counted.through, target] as const
  await (signal ? pipeline(steps, { signal }) : pipeline(steps))
  requireEqual(part, counted.result())
}

/** Reads the loaded tables back. Throws BackupError where they differ from what the manifest says. */
export async function compareScratch(client: pg.Client, { manifest }: Backup): Promise<void> {
  await inScratch(client, async () => {
    const shapes = await selectShapes(client)
    for (const part of manifest.parts) {
      const known = shapes.get(part.table)
      if (!known) continue
      const counted = countRows()
      const shape = { ...part, order: known.order }
      for await (const _ of counted.through(copyOut(client, shape)));
      requireEqual(part, counted.result())
    }
  })
}

function requireEqual({ table, rows, sha256 }: Part, found: { rows: number; sha256: string }) {
  if (rows === found.rows && sha256 === found.sha256) return
  throw new BackupError(
    `Копия неверна: в таблице ${table} записано строк ${rows}, получилось ${found.rows}, суммы не сходятся.`,
  )
}

async function inScratch(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query(`SET search_path = ${SCRATCH}`)
  try {
    await work()
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  } finally {
    await client.query('RESET search_path').catch(() => {})
  }
}

/** Brings the loaded tables to this version's migration, and drops the columns that it does not know. */
export async function migrateScratch(
  client: pg.Client,
  url: string,
  unknown: UnknownColumn[],
): Promise<void> {
  for (const { table, column } of unknown) {
    await client.query(`ALTER TABLE ${SCRATCH}.${quote(table)} DROP ${quote(column)}`)
  }
  await migrate(scratchUrl(url), { schema: SCRATCH })
}
