import { expect, test } from 'vitest'
import { explainStartFailure } from '../../operations/start/start-failure.ts'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { emptyDatabase } from '../../testing/database/backups.ts'
import { clientForTest, databaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn } from '../../testing/database/databases.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
import { startMain } from '../../testing/process/start-main.ts'
import { StartError } from '../errors/app-error.ts'
import { withStartDatabase } from './database.ts'
import { MIGRATIONS, type Migrations, migrate, productVersion, requireMigrated } from './migrate.ts'
import { FEED_NAME } from './nodes.ts'

const WAITING = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`

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

test('a wall has the version of its tables, also if its queue is never created', async () => {
  const url = await emptyDatabase()
  const [holder, reader] = [await clientForTest(url), await clientForTest(url)]
  await holder.query('BEGIN; CREATE SCHEMA graphile_worker')
  const migrated = migrate(url)
  await expect.poll(async () => (await reader.query(WAITING)).rowCount).toBe(1)
  const { rows } = await reader.query('SELECT version FROM installation')
  expect(rows).toEqual([{ version: productVersion() }])
  await holder.query('ROLLBACK')
  await migrated
})

test('a migration whose connection is lost is explained as such', async () => {
  const { url, reader } = await heldDatabase()
  const line = closeAfterTest(await openPostgresProxy(url))
  const said = migrate(line.url, { migrations: ONE_MORE }).catch(explainStartFailure)
  await expect.poll(async () => (await reader.query(WAITING)).rowCount).toBe(1)
  line.cut()
  expect(await said).toMatch(/^База данных не отвечает: соединение оборвалось/)
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
