import type pg from 'pg'
import { openClient } from '../../kernel/db/database.ts'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { MIGRATIONS } from '../../kernel/db/migrate.ts'
import { COUNT_NODES } from '../../kernel/db/nodes.ts'
import { RESTORE_LOCK, SCRATCH_SCHEMA } from '../../kernel/db/restore-lock.ts'
import { BackupError } from './backup-folder.ts'
import { EXCLUDED_TABLES } from './tables.repository.ts'

/** Returns the URL whose connections use the scratch schema. */
export function scratchUrl(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}options=-csearch_path%3D${SCRATCH_SCHEMA}`
}

/** Runs `work` with the restore lock. Throws BackupError if a restore or a start holds the lock. */
export async function withRestoreLock<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  await using client = await openClient(url, 'vslukh restore')
  if (!(await selectValue(client, `SELECT pg_try_advisory_lock(${RESTORE_LOCK})`))) {
    throw new BackupError(
      'Эту базу уже восстанавливает другая команда, или с ней запускается сервер.',
    )
  }
  return await work(client)
}

async function selectValue<T>(client: pg.Client, statement: string): Promise<T> {
  const { rows } = await client.query<[T]>({ text: statement, rowMode: 'array' })
  const [[value] = []] = rows
  return value as T
}

/** PostgreSQL's code for a lock that was waited for in vain. */
const LOCKED = '55P03'
const LOCK_WAIT = '1min'

/**
 * Replaces the product's tables in one transaction. Throws BackupError if other sessions, such as an
 * open psql, still hold them after a minute. Also drops the old queue, and what a newer
 * version has added, which would conflict with that version's migrations.
 */
export async function replaceTables(
  client: pg.Client,
  beforeCommit: () => Promise<void>,
  lockWait = LOCK_WAIT,
): Promise<void> {
  const loaded = await objectsOf(client, SCRATCH_SCHEMA)
  const place = await selectValue<string>(client, 'SELECT quote_ident(current_schema())')
  const replaced = new Set([...loaded.map(({ name }) => name), ...EXCLUDED_TABLES])
  const present = await objectsOf(client, place)
  const old = (await isNewer(client)) ? present : present.filter(({ name }) => replaced.has(name))
  await client.query(`BEGIN; SET LOCAL lock_timeout = '${lockWait}'`)
  try {
    for (const { kind, address } of old)
      await client.query(`DROP ${kind} IF EXISTS ${address} CASCADE`)
    await client.query('DROP SCHEMA IF EXISTS graphile_worker CASCADE')
  } catch (cause) {
    throw errorCode(cause) === LOCKED ? new BackupError(HELD, { cause }) : cause
  }
  for (const { kind, address } of loaded) {
    await client.query(`ALTER ${kind} ${address} SET SCHEMA ${place}`)
  }
  // Without CASCADE, an object that was forgotten makes the restore fail instead of vanishing.
  await client.query(`DROP SCHEMA ${SCRATCH_SCHEMA}`)
  await beforeCommit()
  await client.query('COMMIT')
}

const HELD =
  'Стена не возвращена, и прежняя на месте: её таблицы уже минуту держат другие программы, ' +
  'например открытый psql. Закройте их (SELECT pid, application_name FROM pg_stat_activity) и повторите.'

/** `address` is the quoted name with its schema, and for functions with the types of arguments. */
type DatabaseObject = {
  kind: 'TABLE' | 'VIEW' | 'TYPE' | 'ROUTINE'
  name: string
  address: string
}

/**
 * Returns the functions, tables, types and views of a schema, except those of extensions and of
 * other roles. Functions come first, because their addresses name types.
 */
async function objectsOf(client: pg.Client, schema: string): Promise<DatabaseObject[]> {
  const { rows } = await client.query<DatabaseObject>(
    `SELECT kind, name, address FROM (
      SELECT CASE relkind WHEN 'r' THEN 'TABLE' ELSE 'VIEW' END AS kind, relname::text AS name,
          format('%s.%I', $1::text, relname) AS address, oid, 'pg_class'::regclass AS class,
          relowner AS owner
        FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'v')
      UNION ALL
      SELECT 'TYPE', relname, format('%s.%I', $1::text, relname), reltype, 'pg_type',
          relowner
        FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'c'
      UNION ALL
      SELECT 'ROUTINE', proname, oid::regprocedure::text, oid, 'pg_proc', proowner
        FROM pg_proc WHERE pronamespace = $1::regnamespace
    ) AS objects
    WHERE pg_has_role(owner, 'USAGE')
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = class AND objid = oid AND deptype = 'e')
    ORDER BY kind, name`,
    [schema],
  )
  return rows
}

/** Returns whether a newer version has migrated the wall, so that unknown tables belong to it. */
async function isNewer(client: pg.Client): Promise<boolean> {
  if (!(await selectValue(client, `SELECT to_regclass('kysely_migration')`))) return false
  const { rowCount } = await client.query(
    'SELECT FROM kysely_migration WHERE name <> ALL($1) LIMIT 1',
    [Object.keys(MIGRATIONS)],
  )
  return rowCount === 1
}

export async function dropScratch(client: pg.Client): Promise<void> {
  await client.query('ROLLBACK').catch(() => {})
  await client.query(`DROP SCHEMA IF EXISTS ${SCRATCH_SCHEMA} CASCADE`).catch(() => {})
}

/** Returns whether the database contains a wall with users or with acts of an operator. */
export async function hasWall(client: pg.Client): Promise<boolean> {
  const tables = `SELECT to_regclass('users') IS NOT NULL AND to_regclass('journal') IS NOT NULL`
  const rows = 'SELECT EXISTS (SELECT FROM users) OR EXISTS (SELECT FROM journal)'
  return (await selectValue<boolean>(client, tables)) && selectValue<boolean>(client, rows)
}

export const countServers = (client: pg.Client) => selectValue<number>(client, COUNT_NODES)

export const countLoadedSessions = (client: pg.Client) =>
  selectValue<number>(client, `SELECT count(*)::int FROM ${SCRATCH_SCHEMA}.sessions`)
