import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { startMain } from '../../testing/start-main.ts'
import { StartError } from '../errors/start-error.ts'
import { withStartDatabase } from './database.ts'
import { MIGRATIONS, migrate, requireMigrated } from './migrate.ts'

/** The migrations and one more that needs a lock on a table, as most that alter one do. */
const ONE_MORE = {
  ...MIGRATIONS,
  '999-test': {
    isAdditive: true,
    up: async (db: Kysely<unknown>) => {
      await sql`ALTER TABLE posts ADD COLUMN test integer`.execute(db)
    },
  },
}

const BREAKING = { ...ONE_MORE, '999-test': { ...ONE_MORE['999-test'], isAdditive: false } }

/** Returns a database whose posts are locked by one long SELECT until `release()` is called. */
async function heldDatabase() {
  const databaseUrl = await databaseForTest()
  const connect = async () => {
    const client = new pg.Client({ connectionString: databaseUrl })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  const holder = await connect()
  await holder.query('BEGIN')
  await holder.query('SELECT FROM posts')
  return { url: databaseUrl, reader: await connect(), release: () => holder.query('ROLLBACK') }
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

test('a migration that gets no lock is given up with an explanation, and has changed nothing', async () => {
  const { url, reader } = await heldDatabase()
  const migrated = migrate(url, { migrations: ONE_MORE, lockWaitMs: 100 })
  await expect(migrated).rejects.toThrow(StartError)
  await expect(migrated).rejects.toThrow(/другие запросы держат её таблицы.*pg_stat_activity/)
  const { rows } = await reader.query('SELECT name FROM kysely_migration ORDER BY name')
  expect(rows.map(({ name }) => name)).not.toContain('999-test')
})

test('waiting for a lock ends when the start is aborted', async () => {
  const { url } = await heldDatabase()
  const abort = new AbortController()
  const migrated = migrate(url, {
    migrations: ONE_MORE,
    signal: abort.signal,
    say: () => abort.abort(),
  })
  await expect(migrated).rejects.toThrow('aborted')
})

/** Returns the URL of a database that a newer version has migrated. */
async function newerDatabase(migrations: typeof ONE_MORE): Promise<string> {
  const databaseUrl = await databaseForTest()
  await migrate(databaseUrl, { migrations })
  return databaseUrl
}

test('a server works on a database whose newer migrations are additive, and so do its commands', async () => {
  const DATABASE_URL = await newerDatabase(ONE_MORE)
  await withStartDatabase(DATABASE_URL, ({ db }) => requireMigrated(db))
  const { code, stderr, url } = await startMain({ DATABASE_URL, APP_SECRET: 's'.repeat(32) })
  expect({ code, stderr }).toEqual({ code: null, stderr: '' })
  expect((await fetch(`${url}/api/v1/posts`)).status).toBe(200)
})

test('neither works where a newer migration is not additive, even with additive ones after it', async () => {
  const url = await newerDatabase(BREAKING)
  const more = { ...BREAKING, '999-very-last': { isAdditive: true, up: async () => {} } }
  await migrate(url, { migrations: more })
  await expect(migrate(url)).rejects.toThrow(/^База новее: .*999-test/)
  await expect(withStartDatabase(url, ({ db }) => requireMigrated(db))).rejects.toThrow(StartError)
  await migrate(url, { migrations: more })
})

test('a database that lacks a migration and has a newer one is refused, although that is additive', async () => {
  const url = await newerDatabase(ONE_MORE)
  const migrations = { ...MIGRATIONS, '998-missing': ONE_MORE['999-test'] }
  await expect(migrate(url, { migrations })).rejects.toThrow(/^База новее: .*999-test/)
})

test('the database remembers which version migrated it last', async () => {
  const databaseUrl = await databaseForTest()
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  const { rows } = await client.query('SELECT version FROM installation')
  expect(rows).toEqual([{ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) }])
})
