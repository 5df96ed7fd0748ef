import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { BACKGROUND } from '../../open-context.ts'
import { emptyDatabase } from '../../testing/database/backups.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn } from '../../testing/database/databases.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { envOf, runHere } from '../../testing/process/run-command.ts'
import { appForTest } from '../../testing/test-app.ts'
import { openClient, openDatabase, withStartDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { SESSION } from './session.ts'

/** Settings that the owner of a database may have made, none of them as the product needs it. */
const FOREIGN = {
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kamchatka',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  quote_all_identifiers: 'on',
  default_transaction_isolation: 'serializable',
  jit: 'on',
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: '20s',
  lock_timeout: '20s',
  idle_in_transaction_session_timeout: '20s',
  idle_session_timeout: '20s',
  transaction_timeout: '20s',
}

async function makeForeign(url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1)
  for (const [setting, value] of Object.entries(FOREIGN)) {
    await executeOn(url, `ALTER DATABASE ${name} SET ${setting} = '${value}'`)
  }
  return url
}

async function settingsOf(client: pg.ClientBase | pg.Pool): Promise<Record<string, string>> {
  const names = Object.keys(SESSION)
  const { rows } = await client.query(
    'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name',
    [names],
  )
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

test('sessions of requests, jobs, the start and commands have the product’s settings, whatever those of the database are, and time limits of their own', async () => {
  const url = await makeForeign(await databaseForTest())
  expect(Object.keys(FOREIGN)).toEqual(Object.keys(SESSION))
  const requests = openDatabase(url, () => {})
  const jobs = openDatabase(url, () => {}, BACKGROUND)
  onTestFinished(async () => void (await Promise.all([requests.close(), jobs.close()])))
  await using command = await openClient(url, 'vslukh test')
  expect(await settingsOf(command)).toEqual(SESSION)
  expect(await settingsOf(requests.pool)).toEqual({
    ...SESSION,
    statement_timeout: '3s',
    idle_in_transaction_session_timeout: '6s',
  })
  expect(await settingsOf(jobs.pool)).toMatchObject({
    DateStyle: 'ISO, YMD',
    statement_timeout: '1h',
    lock_timeout: '5s',
  })
  const start = await withStartDatabase(url, ({ pool }) => settingsOf(pool))
  expect(start).toEqual({ ...SESSION, lock_timeout: '3s' })
})

test('in a database with other settings tables are created, people register and write, and a backup is the same as elsewhere', async () => {
  const url = await makeForeign(await emptyDatabase())
  await migrate(url)
  const app = await appForTest({ databaseUrl: url })
  const olga = await app.signUp()
  await app.publish(olga)
  expect((await app.call('GET', '/sessions', { token: olga.token })).status).toBe(200)
  const copy = join(await folderForTest(), 'wall.backup')
  const made = await runHere(envOf({ databaseUrl: url }), ['backup', copy])
  expect(made).toMatchObject({ code: 0, err: '' })
  const target = envOf({ databaseUrl: await emptyDatabase() })
  expect(await runHere(target, ['restore', copy])).toMatchObject({ code: 0, err: '' })
})

test('PgBouncer sets the same for its connections, except what PostgreSQL 15 does not know', async () => {
  const ini = await readFile(join(import.meta.dirname, '../../../deploy/pgbouncer.ini'), 'utf8')
  const [, query = ''] = /connect_query='(.*)'$/m.exec(ini) ?? []
  const sets = query.matchAll(/SET (\w+) = ''([^']+)''/g)
  const { transaction_timeout: _, ...known } = SESSION
  expect(Object.fromEntries([...sets].map(([, name, value]) => [name, value]))).toEqual({
    ...known,
    statement_timeout: '3000',
    idle_in_transaction_session_timeout: '6000',
  })
})
