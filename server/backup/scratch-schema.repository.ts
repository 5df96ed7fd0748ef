import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { MIGRATIONS, migrate } from '../db/migrate.ts'
import { RESTORE_LOCK } from '../db/restore-lock.ts'
import { LEFT_OUT } from './backed-up-tables.ts'
import { BackupError } from './backup-error.ts'
import { countRows, type Manifest, type Part, type Progress, readPart } from './backup-file.ts'
import {
  copyInStatement,
  copyOut,
  selectTables,
  setCopyFormat,
  setSequences,
  type TableShape,
} from './tables.repository.ts'

/** A backup is loaded into this schema and moves into the product's own one when it is complete. */
const SCRATCH = 'vslukh_restore'

export type Backup = { path: string; manifest: Manifest }
type Loading = { backup: Backup; onProgress: Progress; signal?: AbortSignal | undefined }

/** Returns the URL of the same database with the scratch schema as its search path. */
export function scratchUrl(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}options=-csearch_path%3D${SCRATCH}`
}

/** Runs `work` with an own connection that holds the lock of restores. Throws BackupError where another restore holds it. */
export async function withRestoreLock<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'vslukh restore' })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${RESTORE_LOCK}) AS is_ours`)
    if (!rows[0].is_ours) {
      throw new BackupError(
        'Эту базу уже восстанавливает другая команда, или с ней запускается сервер.',
      )
    }
    await setCopyFormat(client)
    return await work(client)
  } finally {
    await client.end()
  }
}

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

/**
 * Puts the loaded tables in the place of the product's in one transaction, so that the database contains either the wall that
 * was there or the restored one. The old wall's queue goes with it. `beforeCommit` runs when nothing but the commit is left.
 */
export async function moveScratchIntoPlace(
  client: pg.Client,
  beforeCommit = async () => {},
): Promise<void> {
  const loaded = await tablesOf(client, SCRATCH)
  const { rows } = await client.query('SELECT quote_ident(current_schema()) AS schema')
  const place = rows[0].schema
  const old = [...new Set([...loaded, ...LEFT_OUT])].map((table) => `${place}.${quote(table)}`)
  await client.query('BEGIN')
  await client.query(`DROP TABLE IF EXISTS ${old.join(', ')} CASCADE`)
  await client.query(`DROP FUNCTION IF EXISTS ${place}.refuse_journal_change`)
  await client.query('DROP SCHEMA IF EXISTS graphile_worker CASCADE')
  for (const table of loaded) {
    await client.query(`ALTER TABLE ${SCRATCH}.${quote(table)} SET SCHEMA ${place}`)
  }
  await client.query(`ALTER FUNCTION ${SCRATCH}.refuse_journal_change SET SCHEMA ${place}`)
  // Without CASCADE: anything that was forgotten here makes the restore fail instead of vanishing.
  await client.query(`DROP SCHEMA ${SCRATCH}`)
  await beforeCommit()
  await client.query('COMMIT')
}

/** Removes what a restore that failed has loaded. */
export async function dropScratch(client: pg.Client): Promise<void> {
  await client.query('ROLLBACK').catch(() => {})
  await client.query(`DROP SCHEMA IF EXISTS ${SCRATCH} CASCADE`).catch(() => {})
}

const quote = pg.escapeIdentifier

async function tablesOf(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'`,
    [schema],
  )
  return rows.map(({ name }) => name)
}

/** Whether the database contains somebody's wall: people, or acts of an operator. */
export async function hasWall(client: pg.Client): Promise<boolean> {
  const exists = await client.query(
    `SELECT to_regclass('users') IS NOT NULL AND to_regclass('journal') IS NOT NULL AS yes`,
  )
  if (!exists.rows[0].yes) return false
  const { rows } = await client.query(
    'SELECT EXISTS (SELECT FROM users) OR EXISTS (SELECT FROM journal) AS yes',
  )
  return rows[0].yes
}

/** Returns how many servers use the database. */
export async function countServers(client: pg.Client): Promise<number> {
  const { rows } = await client.query(`SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'vslukh change feed'`)
  return rows[0].count
}
