import { expect, test } from 'vitest'
import { openDatabaseAgain, shutDatabase } from '../../testing/database/databases.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForTest } from '../../testing/test-app.ts'

test('a database that takes no more connections: calls are 503 until it does; the log has two lines about it, and no stack trace', async () => {
  const app = await appForTest()
  const { token } = await app.signUp()
  // A job that is cut off has a line of its own.
  await app.logLine('mail sent')
  const from = app.logged.length
  await shutDatabase(app.databaseUrl)
  const read = () => app.call('GET', '/sessions', { token })
  // The first call finds that its connection was cut.
  await read()
  await app.logLine('the database is out of connections')
  for (let call = 0; call < 5; call++) expectRefusal(await read(), 'UNAVAILABLE')
  await openDatabaseAgain(app.databaseUrl)
  await app.logLine('the database is back')
  expect((await read()).status).toBe(200)
  const lines = app.logged.slice(from).map((line) => JSON.parse(line))
  const told = lines.filter(({ level }) => level === 'warn' || level === 'error')
  expect(told.map(({ msg }) => msg)).toEqual([
    'the database is out of connections',
    'the database is back',
  ])
})
