import pg from 'pg'
import { RESTORE_LOCK } from '../db/restore-lock.ts'
import { COUNT_NODES } from '../response-cache/operator-changes.ts'
import { LEFT_OUT } from './backed-up-tables.ts'
import { BackupError } from './backup-error.ts'
import { setCopyFormat } from './tables.repository.ts'

/** A backup is loaded into this schema and moves into the product's own one when it is complete. */
export const SCRATCH = 'vslukh_restore'

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
  const { rows } = await client.query(COUNT_NODES)
  return rows[0].nodes
}
