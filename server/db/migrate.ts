import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runMigrations as migrateQueue } from 'graphile-worker'
import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { StartError } from '../start/start-failure.ts'
import { type Db, type StartDatabase, withStartDatabase } from './database.ts'
import { errorCode } from './database-errors.ts'
import * as product from './migrations/001-product.ts'
import * as posts from './migrations/002-posts.ts'
import * as mailboxes from './migrations/003-mailboxes.ts'
import * as account from './migrations/004-account.ts'
import * as installation from './migrations/005-installation.ts'
import * as moderation from './migrations/006-moderation.ts'
import * as accountDeletion from './migrations/007-account-deletion.ts'

/** Every migration by its name; they run in the order of the names. */
export const MIGRATIONS: Record<string, Migration> = {
  '001-product': product,
  '002-posts': posts,
  '003-mailboxes': mailboxes,
  '004-account': account,
  '005-installation': installation,
  '006-moderation': moderation,
  '007-account-deletion': accountDeletion,
}

type Options = {
  migrations?: Record<string, Migration>
  /** Prints a line in Russian to the terminal. */
  say?: (line: string) => void
  /** Aborts waiting for locks. */
  signal?: AbortSignal
  /** For how long a lock that others hold is tried again and again. */
  lockWaitMs?: number
}

const LOCK_WAIT_MS = 60_000
/** Readers that queued behind a migration pass in this pause. */
const PAUSE_MS = 1000
/** PostgreSQL's states “lock not available” and “deadlock detected”. */
const LOCKED = ['55P03', '40P01']

/**
 * Migrates the database at `url` to the newest version, the mail queue's tables included. Nodes that start at once wait for
 * each other: both migrators take a lock in the database. Where a long statement holds a table, the migration waits for it
 * 3 s at a time, so that the readers behind it pass in between. Throws StartError when that takes longer than a minute, or
 * when a newer version has migrated the database; otherwise the error of the first migration that failed, rolled back.
 */
export async function migrate(
  url: string,
  { migrations = MIGRATIONS, say = () => {}, signal, lockWaitMs = LOCK_WAIT_MS }: Options = {},
): Promise<void> {
  const since = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return await withStartDatabase(url, (database) => migrateOnce(database, migrations))
    } catch (cause) {
      if (!LOCKED.includes(errorCode(cause))) throw cause
      if (performance.now() - since > lockWaitMs) throw new StartError(blocked(), { cause })
    }
    if (tries === 1) say('Ждём, пока другие освободят таблицы базы данных…')
    await delay(PAUSE_MS, undefined, { signal })
  }
}

/** Throws StartError unless the database has exactly the migrations of this version: a command changes no tables. */
export async function requireMigrated(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`
    .execute(db)
    .catch((error) => {
      if (errorCode(error) === UNDEFINED_TABLE) return { rows: [] }
      throw error
    })
  const done = new Set(rows.map(({ name }) => name))
  const isSame = done.size === Object.keys(MIGRATIONS).length
  if (isSame && Object.keys(MIGRATIONS).every((name) => done.has(name))) return
  throw new StartError(
    'База данных другой версии. Запустите сервер той же версии, что эта команда: он обновит базу.',
  )
}

const UNDEFINED_TABLE = '42P01'

async function migrateOnce(
  { db, pool }: StartDatabase,
  migrations: Record<string, Migration>,
): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  await requireKnownMigrations({ db, pool }, migrations)
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error) throw error
  await migrateQueue({ pgPool: pool })
  if (results.length > 0) await db.updateTable('installation').set({ version: version() }).execute()
}

/** Throws StartError where the database has migrations of a newer version: this one may break what they changed. */
async function requireKnownMigrations(
  { db, pool }: StartDatabase,
  migrations: Record<string, Migration>,
): Promise<void> {
  const { rows } = await pool.query<{ exists: boolean }>(
    `SELECT to_regclass('kysely_migration') IS NOT NULL AND to_regclass('installation') IS NOT NULL AS exists`,
  )
  if (!rows[0]?.exists) return
  const done = await pool.query<{ name: string }>('SELECT name FROM kysely_migration ORDER BY name')
  const unknown = done.rows.map(({ name }) => name).filter((name) => !(name in migrations))
  if (unknown.length === 0) return
  const row = await db.selectFrom('installation').select('version').executeTakeFirst()
  throw new StartError(
    `База новее: нужна версия ${row?.version ?? 'новее этой'}, а запущена ${version()} ` +
      `(в базе есть ${unknown.join(', ')}). Поставьте нужную версию или верните базу из копии, сделанной до обновления.`,
  )
}

function blocked(): string {
  return (
    'База данных не обновлена: другие запросы держат её таблицы уже минуту. ' +
    'Найдите их (SELECT pid, query FROM pg_stat_activity), дождитесь конца или прервите ' +
    '(SELECT pg_terminate_backend(pid)) и запустите сервер снова.'
  )
}

/** Returns the version of this product. */
export function version(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')
  return JSON.parse(text).version
}
