import { expect, test } from 'vitest'
import { clientForTest, databaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn } from '../../testing/database/databases.ts'
import { startMain } from '../../testing/process/start-main.ts'
import { StartError } from '../errors/app-error.ts'
import { createAdopted } from './adopt.ts'
import { withStartDatabase } from './database.ts'
import { MIGRATIONS, type Migrations, migrate, productVersion, requireMigrated } from './migrate.ts'
import { FEED_NAME } from './nodes.ts'

const LOCKING = 'ALTER TABLE posts ADD COLUMN test integer'

/** The migrations and one more that needs a lock on a table, as most that alter one do. */
const ONE_MORE = { ...MIGRATIONS, '999-test': `-- additive\n${LOCKING}` }

const BREAKING = { ...ONE_MORE, '999-test': LOCKING }

/** Returns a database whose posts are locked by one long SELECT until `release()` is called. */
async function heldDatabase() {
  const url = await databaseForTest()
  const holder = await clientForTest(url)
  await holder.query('BEGIN; SELECT FROM posts')
  return { url, reader: await clientForTest(url), release: () => holder.query('ROLLBACK') }
}

test('a migration behind one long SELECT delays readers by 3 s at most, and runs once the SELECT is over', async () => {
  const { url, reader, release } = await heldDatabase()
  const { promise: waiting, resolve: say } = Promise.withResolvers<string>()
  const migrated = migrate(url, { migrations: ONE_MORE, say })
  let longest = 0
  let waits = true
  const reading = (async () => {
    while (waits) {
      const began = performance.now()
      await reader.query('SELECT FROM posts')
      longest = Math.max(longest, performance.now() - began)
    }
  })()
  expect(await waiting).toMatch(/^Ждём/)
  waits = false
  await reading
  expect(longest).toBeGreaterThan(500)
  expect(longest).toBeLessThan(6000)
  await release()
  await migrated
  expect((await reader.query('SELECT test FROM posts')).rowCount).toBe(0)
})

test('a migration that gets no lock is given up with an explanation, or when the start is stopped, and has changed nothing', async () => {
  const { url, reader } = await heldDatabase()
  const migrated = migrate(url, { migrations: ONE_MORE, lockWaitMs: 100 })
  await expect(migrated).rejects.toThrow(StartError)
  await expect(migrated).rejects.toThrow(/другие запросы держат её таблицы.*pg_stat_activity/)
  const { rows } = await reader.query('SELECT name FROM kysely_migration ORDER BY name')
  expect(rows.map(({ name }) => name)).not.toContain('999-test')

  const abort = new AbortController()
  const stopped = { migrations: ONE_MORE, signal: abort.signal, say: () => abort.abort() }
  await expect(migrate(url, stopped)).rejects.toThrow('aborted')
})

/** Returns the URL of a database that a newer version has migrated. */
async function newerDatabase(migrations: Migrations): Promise<string> {
  const databaseUrl = await databaseForTest()
  await migrate(databaseUrl, { migrations })
  return databaseUrl
}

test('server and commands work on a database whose newer migrations are additive', async () => {
  const DATABASE_URL = await newerDatabase(ONE_MORE)
  await withStartDatabase(DATABASE_URL, ({ db }) => requireMigrated(db))
  const { code, stderr, url } = await startMain({ DATABASE_URL, APP_SECRET: 's'.repeat(32) })
  expect({ code, stderr }).toEqual({ code: null, stderr: '' })
  expect((await fetch(`${url}/api/v1/posts`)).status).toBe(200)
})

test('server and commands refuse a newer migration that is not additive, even with additive ones after it, and an additive one if another is missing', async () => {
  const url = await newerDatabase(BREAKING)
  const more = { ...BREAKING, '999-very-last': '-- additive' }
  await migrate(url, { migrations: more })
  await executeOn(url, `UPDATE installation SET version = '9.0.0'`)
  await expect(migrate(url)).rejects.toThrow(/^База новее: нужна версия 9\.0\.0.*999-test/)
  await expect(withStartDatabase(url, ({ db }) => requireMigrated(db))).rejects.toThrow(
    /другой версии: ей нужна 9\.0\.0/,
  )
  await migrate(url, { migrations: more })

  const additive = await newerDatabase(ONE_MORE)
  const migrations = { ...MIGRATIONS, '998-missing': ONE_MORE['999-test'] }
  await expect(migrate(additive, { migrations })).rejects.toThrow(/^База новее: .*999-test/)
})

test('commands that are newer than the database name both versions and the server to run', async () => {
  const url = await databaseForTest()
  const required = () => withStartDatabase(url, ({ db }) => requireMigrated(db))
  await executeOn(url, `DELETE FROM kysely_migration; UPDATE installation SET version = '0.9.0'`)
  const own = productVersion()
  const said = `в ней ещё 0.9.0, а это ${own}. Запустите здесь сервер ${own}: он обновит базу`
  await expect(required()).rejects.toThrow(said)
  await executeOn(url, 'DROP TABLE installation')
  await expect(required()).rejects.toThrow(`в ней ещё ничего нет, а это ${own}`)
})

test('a migration that would break the nodes that run is refused until they have ended, or the operator agrees', async () => {
  const url = await databaseForTest()
  const node = await clientForTest(url, `${FEED_NAME}0.9.0`)
  const upgrade = (migrations: Migrations, isAgreed = false) =>
    migrate(url, { migrations, nodesWaitMs: 100, isAgreed })
  await expect(upgrade(BREAKING)).rejects.toThrow(/узлы версии 0\.9\.0.*999-test/)
  const additive = { ...MIGRATIONS, '900-more': '-- additive\nCREATE TABLE more (id bigint)' }
  await upgrade(additive)
  const breaking = { ...additive, '901-breaking': 'CREATE TABLE agreed (id bigint)' }
  await upgrade(breaking, true)
  await node.end()
  await upgrade({ ...breaking, '999-test': LOCKING })
})

/**
 * Makes a database of 0.1.0. That its tables are those which 0.1.0 made was compared with a dump of
 * 0.1.0 before the SQL was frozen: other-versions.test.ts keeps it so, and restores its backup.
 */
async function databaseOf010(): Promise<string> {
  const url = await databaseForTest('template0')
  await withStartDatabase(url, ({ db }) => createAdopted(db))
  await executeOn(
    url,
    `UPDATE installation SET version = '0.1.0';
    INSERT INTO kysely_migration VALUES ('001-product', '');
    INSERT INTO additive_migrations VALUES ('027-post-changes')`,
  )
  return url
}

test('a database of 0.1.0 is adopted, by nodes that start at once, and is then equal to a new one', async () => {
  const url = await databaseOf010()
  await Promise.all([migrate(url), migrate(url)])
  const fresh = await databaseForTest()
  expect(await executeOn(url, CATALOG)).toEqual(await executeOn(fresh, CATALOG))
  for (const table of ['kysely_migration', 'additive_migrations']) {
    const names = `SELECT name FROM ${table} ORDER BY name`
    expect(await executeOn(url, names)).toEqual(await executeOn(fresh, names))
  }
  for (const migrated of [url, fresh]) {
    expect(await executeOn(migrated, 'SELECT version FROM installation')).toEqual([
      { version: productVersion() },
    ])
  }
})

test('a database from before 0.1.0 is refused and stays as it is', async () => {
  const url = await databaseOf010()
  await executeOn(url, `DELETE FROM kysely_migration WHERE name = '027-post-changes'`)
  const before = await executeOn(url, 'TABLE kysely_migration')
  await expect(migrate(url)).rejects.toThrow(/^База данных старше 0\.1\.0/)
  expect(await executeOn(url, 'TABLE kysely_migration')).toEqual(before)
})

/**
 * Describes what is in a schema. The order of columns may differ, and so may the comments in
 * functions and their spaces.
 */
const CATALOG = `
  WITH tables AS (
    SELECT oid, relname, relkind, reloptions FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')
  )
  SELECT concat_ws(' ', relkind, relname, reloptions) AS line FROM tables
  UNION ALL
  SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
      attgenerated, pg_get_expr(adbin, adrelid))
    FROM tables JOIN pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
    LEFT JOIN pg_attrdef ON adrelid = tables.oid AND adnum = attnum
  UNION ALL
  SELECT concat_ws(' ', relname, conname, pg_get_constraintdef(c.oid))
    FROM tables JOIN pg_constraint c ON conrelid = tables.oid WHERE contype <> 'n'
  UNION ALL
  SELECT pg_get_indexdef(indexrelid) FROM tables JOIN pg_index ON indrelid = tables.oid
  UNION ALL
  SELECT pg_get_triggerdef(t.oid) FROM tables JOIN pg_trigger t ON tgrelid = tables.oid AND NOT tgisinternal
  UNION ALL
  SELECT relname || array_to_string(ARRAY(
      SELECT word FROM regexp_split_to_table(pg_get_viewdef(oid), '[,;\\s]+') word ORDER BY word), ' ')
    FROM tables WHERE relkind = 'v'
  UNION ALL
  SELECT regexp_replace(regexp_replace(pg_get_functiondef(oid), '--[^\\n]*', '', 'g'), '\\s+', ' ', 'g')
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  ORDER BY line`
