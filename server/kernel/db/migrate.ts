import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runMigrations as migrateQueue } from 'graphile-worker'
import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { StartError } from '../errors/app-error.ts'
import { type Db, type Queryable, type StartDatabase, withStartDatabase } from './database.ts'
import { errorCode } from './database-errors.ts'
import { SELECT_NODE_VERSIONS } from './nodes.ts'
import { refuseUnfinishedRestore } from './restore-lock.ts'

export type Migrations = Record<string, string>

const SCHEMA = join(import.meta.dirname, '../../schema')

export const MIGRATIONS: Migrations = Object.fromEntries(
  readdirSync(SCHEMA)
    .filter((file) => /^\d{3}-.*\.sql$/.test(file))
    .sort()
    .map((file) => [file.slice(0, -'.sql'.length), readFileSync(join(SCHEMA, file), 'utf8')]),
)

/** The tables that the migrations create. Other tables in their schema may be somebody else's. */
export const OWN_TABLES = Object.values(MIGRATIONS).flatMap((text) =>
  [...text.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name = '']) => name),
)

/** Returns whether servers without the migration can still work after it. */
export function isAdditive(text: string): boolean {
  return text.startsWith('-- additive')
}

type Options = {
  migrations?: Migrations
  say?: (line: string) => void
  signal?: AbortSignal
  lockWaitMs?: number
  nodesWaitMs?: number
  /** Whether to migrate even while nodes run that the migration breaks. */
  isAgreed?: boolean
  /** A schema other than the product's, which the search path of `url` names; it gets no queue. */
  schema?: string
}

/** The schema of the queue's tables, which its library creates in transactions of its own. */
const QUEUE = 'graphile_worker'

const LOCK_WAIT_MS = 60_000
/** The pause between tries, in which readers that queued behind the migration run. */
const PAUSE_MS = 1000
const NODES_WAIT_MS = 10_000
const ALREADY_THERE = ['42P07', '42701', '42710'] // duplicate table, column, object
const LOCKED = ['55P03', '40P01'] // lock timeout, deadlock

/** Throws StartError if tables stay locked for a minute, the database is newer, or nodes break. */
export async function migrate(
  url: string,
  {
    migrations = MIGRATIONS,
    say = () => {},
    signal,
    lockWaitMs = LOCK_WAIT_MS,
    nodesWaitMs = NODES_WAIT_MS,
    isAgreed = false,
    schema,
  }: Options = {},
): Promise<void> {
  const since = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return await withStartDatabase(url, async (database) => {
        if (schema === undefined && !isAgreed)
          await awaitOlderNodesEnd(database.db, migrations, nodesWaitMs)
        return applyMigrations(database, migrations, schema)
      })
    } catch (cause) {
      if (ALREADY_THERE.includes(errorCode(cause)))
        throw new StartError(leftoversMessage(cause), { cause })
      if (!LOCKED.includes(errorCode(cause))) throw cause
      if (performance.now() - since > lockWaitMs) throw new StartError(BLOCKED, { cause })
    }
    if (tries === 1) say('Ждём, пока другие освободят таблицы базы данных…')
    await delay(PAUSE_MS, undefined, { signal })
  }
}

export function isKnownMigration(migration: string): boolean {
  return Object.hasOwn(MIGRATIONS, migration)
}

/** Creates the tables of a known migration in the empty schema `schema`, which `url` selects. */
export async function migrateTo(migration: string, url: string, schema: string): Promise<void> {
  const migrations = Object.entries(MIGRATIONS).filter(([name]) => name <= migration)
  return migrate(url, { migrations: Object.fromEntries(migrations), schema })
}

/** Throws StartError if a migration of this version is missing, or a newer one is not additive. */
export async function requireMigrated(db: Db): Promise<void> {
  const { missing, breaking } = await readAppliedMigrations(db, Object.keys(MIGRATIONS))
  if (missing.length === 0 && breaking.length === 0) return
  const its = (await hasTable(db, 'installation')) ? await readVersion(db) : 'ничего нет'
  const own = productVersion()
  if (breaking.length > 0) {
    throw new StartError(
      `База данных другой версии: ей нужна ${its}, а это ${own}. Поставьте ${its} и на этой машине.`,
    )
  }
  throw new StartError(
    `База данных другой версии: в ней ещё ${its}, а это ${own}. Запустите здесь сервер ${own}: ` +
      'он обновит базу или скажет, почему не может.',
  )
}

/** Completes the queue of a wall whose restore or first start ended before it did so itself. */
export async function completeQueue(db: Db, url: string): Promise<void> {
  // Until the last steps, `jobs` is a table, or has another name.
  const { rows } = await sql`SELECT FROM pg_views
    WHERE schemaname = ${QUEUE} AND viewname = 'jobs'`.execute(db)
  if (rows.length > 0) return
  await withStartDatabase(url, ({ pool: pgPool }) => migrateQueue({ pgPool, schema: QUEUE }))
}

async function applyMigrations(
  { db, pool }: StartDatabase,
  migrations: Migrations,
  schema?: string,
): Promise<void> {
  if (await isNewer(db, Object.keys(migrations))) return
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => toKysely(migrations) },
    ...(schema !== undefined && { migrationTableSchema: schema }),
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
  if (schema === undefined) await migrateQueue({ pgPool: pool, schema: QUEUE })
}

function toKysely(migrations: Migrations): Record<string, Migration> {
  return Object.fromEntries(
    Object.entries(migrations).map(([name, text]) => [
      name,
      { up: (db) => runMigration(db, name, text) },
    ]),
  )
}

/** Runs a migration, and stores by which version, and whether it is additive, which older ones cannot know. */
async function runMigration(db: Kysely<unknown>, name: string, text: string): Promise<void> {
  await sql.raw(text).execute(db)
  if (isAdditive(text)) await sql`INSERT INTO additive_migrations VALUES (${name})`.execute(db)
  await sql`UPDATE installation SET version = ${productVersion()}`.execute(db)
}

/** Returns whether a newer version has migrated. Throws StartError if that breaks this version. */
async function isNewer(db: Db, names: string[]): Promise<boolean> {
  const { missing, additive, breaking } = await readAppliedMigrations(db, names)
  const isNewer = additive.length + breaking.length > 0
  if (breaking.length === 0 && (!isNewer || missing.length === 0)) return isNewer
  const unknown = [...breaking, ...additive].join(', ')
  throw new StartError(
    `База новее: нужна версия ${await readVersion(db)}, а запущена ${productVersion()} ` +
      `(в базе есть ${unknown}). Поставьте нужную версию или верните базу из копии, сделанной до обновления.`,
  )
}

async function readVersion(db: Db): Promise<string> {
  const row = await db.selectFrom('installation').select('version').executeTakeFirst()
  return row?.version ?? 'новее этой'
}

/** Waits until no nodes run that a missing migration breaks. Throws StartError after `waitMs`. */
async function awaitOlderNodesEnd(db: Db, migrations: Migrations, waitMs: number): Promise<void> {
  const applied = await readNames(db, 'kysely_migration')
  const breaking = Object.keys(migrations).filter(
    (name) => !applied.includes(name) && !isAdditive(migrations[name] ?? ''),
  )
  if (applied.length === 0 || breaking.length === 0) return
  const until = performance.now() + waitMs
  for (;;) {
    const { rows } = await sql.raw<{ version: string }>(SELECT_NODE_VERSIONS).execute(db)
    if (rows.length === 0) return
    if (performance.now() > until) {
      const versions = rows.map(({ version }) => version).join(', ')
      throw new StartError(
        `С базой работают узлы версии ${versions}, а после обновления (${breaking.join(', ')}) они не смогли бы писать. ` +
          'Остановите их все и запустите сервер снова, а если это невозможно — один раз с --yes: docs/upgrading.md.',
      )
    }
    await delay(Math.min(waitMs, PAUSE_MS))
  }
}

/** Compares the applied migrations with `names`; `additive` and `breaking` are not among these. */
async function readAppliedMigrations(db: Queryable, names: string[]) {
  await refuseUnfinishedRestore(db)
  const applied = await readNames(db, 'kysely_migration')
  const marked = new Set(await readNames(db, 'additive_migrations'))
  const unknown = applied.filter((name) => !names.includes(name))
  return {
    missing: names.filter((name) => !applied.includes(name)),
    additive: unknown.filter((name) => marked.has(name)),
    breaking: unknown.filter((name) => !marked.has(name)),
  }
}

function leftoversMessage(cause: unknown): string {
  return (
    `База данных не обновлена: в ней уже есть то, что создаёт эта версия (${(cause as Error).message}). ` +
    'Так бывает после возврата к прежней версии. Верните копию этой: vslukh restore ФАЙЛ --replace.'
  )
}

const BLOCKED =
  'База данных не обновлена: другие запросы держат её таблицы уже минуту. ' +
  'Найдите их (SELECT pid, query FROM pg_stat_activity), дождитесь конца или прервите ' +
  '(SELECT pg_terminate_backend(pid)) и запустите сервер снова.'

const PACKAGE = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'),
) as { version: string }

export function productVersion(): string {
  return PACKAGE.version
}

async function hasTable(db: Queryable, table: string): Promise<boolean> {
  const { rows } = await sql<{
    exists: boolean
  }>`SELECT to_regclass(${table}) IS NOT NULL AS exists`.execute(db)
  return rows[0]?.exists ?? false
}

async function readNames(
  db: Queryable,
  table: 'kysely_migration' | 'additive_migrations',
): Promise<string[]> {
  if (!(await hasTable(db, table))) return []
  const { rows } = await sql<{
    name: string
  }>`SELECT name FROM ${sql.table(table)} ORDER BY name`.execute(db)
  return rows.map(({ name }) => name)
}
