import { expect, test } from 'vitest'
import { setReadOnly } from '../../testing/database/databases.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForTest } from '../../testing/test-app.ts'
import { addJob } from '../queue/queue.ts'

test('a database that turns read-only: reads go on, writes are 503 and the node is not ready, until it is writable; the log has two lines about it', async () => {
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

  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
  // A job that is cut off has a line of its own.
  await app.logLine('mail sent')
  const from = app.logged.length
  await setReadOnly(app.databaseUrl, true)
  // The first calls find that their connections were cut.
  const read = async () => (await app.call('GET', `/posts/${post.id}`, { token })).status
  await expect.poll(read).toBe(200)
  for (const [method, path, body] of writes) {
    const answer = await app.call(method, path, { token, ...(body && { body }) })
    expectRefusal(answer, 'UNAVAILABLE')
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
  expect((await app.call('GET', '/posts?filter=liked', { token })).body.total).toBe(0)
  await app.logLine('the database is read-only')
  const waiting = await fetch(`${app.url}/readyz`)
  expect([waiting.status, waiting.headers.has('not-ready')]).toEqual([503, false])

  await setReadOnly(app.databaseUrl, false)
  for (const [method, path, body, success] of writes) {
    const write = () => app.call(method, path, { token, ...(body && { body }) })
    await expect.poll(async () => (await write()).status).toBe(success)
  }
  await addJob(app.db, 'check-counters')
  expect(JSON.parse(await app.logLine('counters checked')).differences).toBe(0)
  await expect.poll(async () => (await fetch(`${app.url}/readyz`)).status).toBe(200)
  const lines = app.logged.slice(from).map((line) => JSON.parse(line))
  const told = lines.filter(({ level }) => level === 'warn' || level === 'error')
  const [ended, back, ...later] = told.map(({ msg }) => msg)
  expect([ended, back]).toEqual(['the database is read-only', 'the database is back'])
  // A connection that was opened meanwhile stays read-only, and is closed by its next write.
  for (const msg of later) expect(msg).toBe('the database refused for a moment')
  expect(told[1].refused).toBeGreaterThanOrEqual(writes.length)
})

test('a connection that turns out to be read-only is closed at once: the next call is served', async () => {
  const app = await appForTest()
  const { token } = await app.signUp()
  const publish = () => app.call('POST', '/posts', { token, body: { text: 'Ещё раз' } })
  // Its sender would open a second connection.
  await app.logLine('mail sent')
  await setReadOnly(app.databaseUrl, true)
  const read = async () => (await app.call('GET', '/sessions', { token })).status
  await expect.poll(read).toBe(200)
  await setReadOnly(app.databaseUrl, false)
  expectRefusal(await publish(), 'UNAVAILABLE')
  expect((await publish()).status).toBe(201)
})
