import type { Readable } from 'node:stream'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Part, Sequence } from './backup-file.ts'

/** A table of the connection's schema: its columns, and SQL that orders its rows the same way under every collation. */
export type TableShape = { table: string; columns: string[]; order: string }

const quote = pg.escapeIdentifier

/** Returns the tables of the schema that comes first in the connection's search path. */
export async function selectTables(client: pg.ClientBase): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape>(`
    SELECT c.relname AS "table",
      (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns,
      (SELECT string_agg(quote_ident(a.attname)
          || CASE WHEN a.attcollation <> 0 THEN ' COLLATE "C"' ELSE '' END, ', ' ORDER BY k.place)
        FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY k (attnum, place)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
        WHERE i.indrelid = c.oid AND i.indisprimary) AS "order"
    FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
    ORDER BY 1`)
  return rows
}

/** Returns the rows of a table as COPY text, in the order of its key: equal rows make equal texts. */
export function copyOut(client: pg.ClientBase, { table, columns, order }: TableShape): Readable {
  const list = columns.map(quote).join(', ')
  return client.query(
    copyTo(`COPY (SELECT ${list} FROM ${quote(table)} ORDER BY ${order}) TO STDOUT`),
  )
}

/** Makes values look the same in every COPY, whatever the settings of server and role, and lets statements take their time. */
export async function setCopyFormat(client: pg.ClientBase): Promise<void> {
  await client.query(`SET datestyle = 'ISO, YMD'; SET timezone = 'UTC'; SET intervalstyle = 'postgres';
    SET bytea_output = 'hex'; SET extra_float_digits = 1; SET client_encoding = 'UTF8';
    SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET work_mem = '64MB'`)
}

/** Returns where the sequences of the identity columns stand: never behind the rows of a snapshot taken before. */
export async function selectSequences(client: pg.ClientBase): Promise<Sequence[]> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(`
    SELECT c.relname AS "table", a.attname AS "column",
      pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attidentity <> ''
    ORDER BY 1, 2`)
  const sequences: Sequence[] = []
  for (const { table, column, sequence } of rows) {
    const state = await client.query(
      `SELECT last_value::text AS last, is_called AS "isCalled" FROM ${sequence}`,
    )
    sequences.push({ table, column, ...state.rows[0] })
  }
  return sequences
}

/** Lets the sequences go on where they stood. */
export async function setSequences(client: pg.ClientBase, sequences: Sequence[]): Promise<void> {
  for (const { table, column, last, isCalled } of sequences) {
    await client.query('SELECT setval(pg_get_serial_sequence($1, $2), $3, $4)', [
      quote(table),
      column,
      last,
      isCalled,
    ])
  }
}

/** Returns the COPY statement that fills a table from a part. */
export function copyInStatement({ table, columns }: Part): string {
  return `COPY ${quote(table)} (${columns.map(quote).join(', ')}) FROM STDIN`
}

/** Returns the names of the newest migration, and of the newest one that is not additive. */
export async function selectMigrations(
  client: pg.ClientBase,
): Promise<{ migration: string; needs: string }> {
  const { rows } = await client.query(`
    SELECT max(name) AS migration,
      max(name) FILTER (WHERE name NOT IN (SELECT name FROM additive_migrations)) AS needs
    FROM kysely_migration`)
  return rows[0]
}

/** Returns which tables of the schema each table's foreign keys refer to. */
export async function selectReferences(client: pg.ClientBase): Promise<Map<string, Set<string>>> {
  const { rows } = await client.query<{ table: string; other: string }>(`
    SELECT c.relname AS "table", r.relname AS other
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
    WHERE k.contype = 'f' AND c.oid <> r.oid AND c.relnamespace = current_schema()::regnamespace`)
  const references = new Map<string, Set<string>>()
  for (const { table, other } of rows) {
    references.set(table, (references.get(table) ?? new Set()).add(other))
  }
  return references
}
