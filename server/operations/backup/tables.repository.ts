import type { Readable } from 'node:stream'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { OWN_TABLES } from '../../kernel/db/migrate.ts'
import type { Part, Sequence } from './manifest.ts'

type TableShape = { table: string; columns: string[] }

const quote = pg.escapeIdentifier

/** Tables without a backup: recent mails and requests, the token key, the state of migrations. */
export const EXCLUDED_TABLES: string[] = [
  'codes',
  'redeemed_codes',
  'passkey_operations',
  'rate_limits',
  'mailed_networks',
  'outbox',
  'mail_refusals',
  'mail_pause',
  'recurring_jobs',
  'failing_tasks',
  'access_token_key',
  'additive_migrations',
  'kysely_migration',
  'kysely_migration_lock',
]

/**
 * Returns the tables, each after the tables that it references, so that rows can be loaded. Includes
 * what a newer version has added. Leaves out tables of others, which the role may be unable to read.
 */
export async function selectTables(client: pg.ClientBase): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape>(
    `
    WITH RECURSIVE depths AS (
      SELECT oid, 0 AS depth FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> ALL($1)
        AND (relname = ANY($2) OR pg_has_role(relowner, 'USAGE'))
        AND NOT EXISTS (SELECT FROM pg_depend
          WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
      UNION
      SELECT conrelid, depth + 1 FROM depths JOIN pg_constraint ON confrelid = depths.oid
      WHERE contype = 'f' AND conrelid <> confrelid AND depth < 100
    )
    SELECT c.relname AS "table",
      (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
    FROM depths JOIN pg_class c USING (oid) WHERE c.relnamespace = current_schema()::regnamespace
      AND c.relname <> ALL($1) AND (c.relname = ANY($2) OR pg_has_role(c.relowner, 'USAGE'))
    GROUP BY c.oid, c.relname ORDER BY max(depth), c.relname`,
    [EXCLUDED_TABLES, OWN_TABLES],
  )
  return rows
}

/** Keeps others from changing the tables until the transaction ends; they may read and write. */
export async function lockTables(client: pg.ClientBase, tables: TableShape[]): Promise<void> {
  const names = tables.map(({ table }) => quote(table)).join(', ')
  await client.query(`LOCK TABLE ${names} IN ACCESS SHARE MODE`)
}

/** Returns about how many rows a backup has, by the statistics; 0 if there are none yet. */
export async function estimateRows(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ rows: number }>(
    `SELECT coalesce(sum(reltuples) FILTER (WHERE reltuples > 0), 0)::float8 AS rows FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> ALL($1)`,
    [EXCLUDED_TABLES],
  )
  return rows[0]?.rows ?? 0
}

/** Copies a table as text, in which every session writes values alike. */
export function copyOut(client: pg.ClientBase, { table, columns }: TableShape): Readable {
  const list = columns.map(quote).join(', ')
  const copy = client.query(copyTo(`COPY ${quote(table)} (${list}) TO STDOUT`))
  // After a failed write nobody reads the copy, and its next error would end the process.
  return copy.on('error', () => {})
}

/** Returns the sequences, which are never behind the rows of an earlier snapshot. */
export async function selectSequences(client: pg.ClientBase): Promise<Sequence[]> {
  const { rows } = await client.query<Sequence>(`
    SELECT c.relname AS "table", a.attname AS "column",
      coalesce(s.last_value, s.start_value)::text AS last, s.last_value IS NOT NULL AS "isCalled"
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    JOIN pg_sequences s ON s.schemaname = current_schema() AND quote_ident(s.schemaname) || '.' ||
      quote_ident(s.sequencename) = pg_get_serial_sequence(quote_ident(c.relname), a.attname)
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attidentity <> ''
    ORDER BY 1, 2`)
  return rows
}

export async function setSequence(
  client: pg.ClientBase,
  { table, column, last, isCalled }: Sequence,
): Promise<void> {
  const sql = 'SELECT setval(pg_get_serial_sequence($1, $2), $3, $4)'
  await client.query(sql, [quote(table), column, last, isCalled])
}

export function copyInStatement({ table, columns }: Part): string {
  return `COPY ${quote(table)} (${columns.map(quote).join(', ')}) FROM STDIN`
}

export async function selectMigration(
  client: pg.ClientBase,
): Promise<{ migration: string; version: string | null }> {
  const { rows } = await client.query(
    'SELECT (SELECT max(name) FROM kysely_migration) AS migration, version FROM installation',
  )
  return rows[0]
}
