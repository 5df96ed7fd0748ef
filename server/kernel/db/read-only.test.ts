import { expect, inject, test } from 'vitest'
import { executeOn } from '../../testing/databases.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { addJob } from '../queue/queue.ts'

/** Long enough for a busy machine. */
const SOON = { timeout: 10_000 }

/** Makes new connections to an app's database read-only, or not; as after a failover, open ones stay as they are. */
async function setReadOnly({ databaseUrl }: TestApp, isReadOnly: boolean): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1)
  const value = isReadOnly ? 'on' : 'off'
  const server = inject('databaseUrl')
  await executeOn(server, `ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`)
  if (!isReadOnly) return
  await executeOn(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
  )
}

test('a database that turns read-only: reads go on, writes are 503, and work again once it is writable', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  const { token } = olga
  const post = await app.publish(olga)
  const writes = [
    ['POST', '/posts', { text: 'Можно?' }, 201],
    ['PATCH', `/posts/${post.id}`, { text: 'Иначе' }, 200],
    ['POST', `/posts/${post.id}/likes`, undefined, 200],
    ['POST', `/posts/${post.id}/replies`, { text: 'Ответ' }, 201],
  ] as const

  await setReadOnly(app, true)
  // The first calls find that their connections were cut.
  await expect
    .poll(async () => (await app.call('GET', `/posts/${post.id}`, { token })).status, SOON)
    .toBe(200)
  for (const [method, path, body] of writes) {
    const answer = await app.call(method, path, { token, ...(body && { body }) })
    expectRefusal(answer, 'UNAVAILABLE')
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
  expect((await app.call('GET', '/posts?filter=liked', { token })).body.total).toBe(0)

  await setReadOnly(app, false)
  for (const [method, path, body, success] of writes) {
    const write = () => app.call(method, path, { token, ...(body && { body }) })
    await expect.poll(async () => (await write()).status, SOON).toBe(success)
  }
  await addJob(app.db, 'check-counters', { payload: {} })
  expect(JSON.parse(await app.logLine('counters checked')).differences).toBe(0)
})

test('a connection that turns out to be read-only is closed at once: the next call is served', async () => {
  const app = await appForTest()
  const { token } = await app.signUp()
  const publish = () => app.call('POST', '/posts', { token, body: { text: 'Ещё раз' } })
  await setReadOnly(app, true)
  await expect
    .poll(async () => (await app.call('GET', '/sessions', { token })).status, SOON)
    .toBe(200)
  await setReadOnly(app, false)
  expectRefusal(await publish(), 'UNAVAILABLE')
  expect((await publish()).status).toBe(201)
})

test('while the database is read-only the log has one line, and one more at the end, whatever jobs and people try', async () => {
  const app = await appForTest()
  const { token } = await app.signUp()
  const from = app.logged.length
  await setReadOnly(app, true)
  const publish = () => app.call('POST', '/posts', { token, body: { text: 'Ещё раз' } })
  for (let n = 0; n < 5; n++) expectRefusal(await publish(), 'UNAVAILABLE')
  await app.logLine('the database is read-only')
  await setReadOnly(app, false)
  const { refused } = JSON.parse(await app.logLine('the database is back'))
  expect(refused).toBe(5)
  await addJob(app.db, 'check-counters', { payload: {} })
  await app.logLine('counters checked')
  const lines = app.logged.slice(from).map((line) => JSON.parse(line))
  const told = lines.filter(({ level }) => level === 'warn' || level === 'error')
  expect(told.map(({ msg }) => msg)).toEqual(['the database is read-only', 'the database is back'])
})
