import { randomUUID } from 'node:crypto'
import { expect, inject, onTestFinished, test } from 'vitest'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import {
  asSuperuser,
  executeOn,
  openDatabaseAgain,
  setReadOnly,
  shutDatabase,
} from '../../testing/database/databases.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForTest } from '../../testing/test-app.ts'
import { addJob } from '../queue/queue.ts'

/** Starts an app with a user. `warnings` returns its lines of a level above info from now on. */
async function startApp(databaseUrl?: string) {
  const app = await appForTest({ databaseUrl })
  const { token } = await app.signUp()
  // A job that is cut off has a line of its own, and its sender would open a second connection.
  await app.logLine('mail sent')
  const from = app.logged.length
  const warnings = () => {
    const lines = app.logged.slice(from).map((line) => JSON.parse(line))
    return lines.filter(({ level }) => level === 'warn' || level === 'error')
  }
  const send = (method: string, path: string, body?: object) =>
    app.call(method, path, { token, ...(body && { body }) })
  return { app, send, warnings }
}

test('a database that turns read-only: reads go on, writes are 503 and the node is not ready, until it is writable; the log has two lines about it', async () => {
  const { app, send, warnings } = await startApp()
  const post = (await send('POST', '/posts', { text: 'Слышно?' })).body
  const writes = [
    ['POST', '/posts', { text: 'Можно?' }, 201],
    ['PATCH', `/posts/${post.id}`, { text: 'Иначе' }, 200],
    ['POST', `/posts/${post.id}/likes`, undefined, 200],
    ['POST', `/posts/${post.id}/replies`, { text: 'Ответ' }, 201],
  ] as const

  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
  await setReadOnly(app.databaseUrl, true)
  // The first calls find that their connections were cut.
  await expect.poll(async () => (await send('GET', `/posts/${post.id}`)).status).toBe(200)
  for (const [method, path, body] of writes) {
    const answer = await send(method, path, body)
    expectRefusal(answer, 'UNAVAILABLE')
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
  expect((await send('GET', '/posts?filter=liked')).body.total).toBe(0)
  await app.logLine('the database is read-only')
  const waiting = await fetch(`${app.url}/readyz`)
  expect([waiting.status, waiting.headers.has('not-ready')]).toEqual([503, false])

  await setReadOnly(app.databaseUrl, false)
  for (const [method, path, body, success] of writes) {
    await expect.poll(async () => (await send(method, path, body)).status).toBe(success)
  }
  await addJob(app.db, 'check-counters')
  expect(JSON.parse(await app.logLine('counters checked')).differences).toBe(0)
  await expect.poll(async () => (await fetch(`${app.url}/readyz`)).status).toBe(200)
  const lines = warnings()
  const [ended, back, ...later] = lines.map(({ msg }) => msg)
  expect([ended, back]).toEqual(['the database is read-only', 'the database is back'])
  // A connection that was opened meanwhile stays read-only, and is closed by its next write.
  for (const msg of later) expect(msg).toBe('the database refused for a moment')
  expect(lines[1].refused).toBeGreaterThanOrEqual(writes.length)
})

test('a connection that turns out to be read-only is closed at once: the next call is served', async () => {
  const { app, send } = await startApp()
  const publish = () => send('POST', '/posts', { text: 'Ещё раз' })
  await setReadOnly(app.databaseUrl, true)
  await expect.poll(async () => (await send('GET', '/sessions')).status).toBe(200)
  await setReadOnly(app.databaseUrl, false)
  expectRefusal(await publish(), 'UNAVAILABLE')
  expect((await publish()).status).toBe(201)
})

test('a database that takes no more connections: calls are 503 until it does; the log has two lines about it, and no stack trace', async () => {
  const { app, send, warnings } = await startApp()
  await shutDatabase(app.databaseUrl)
  // The first call finds that its connection was cut.
  await send('GET', '/sessions')
  await app.logLine('the database is out of connections')
  for (let call = 0; call < 5; call++) expectRefusal(await send('GET', '/sessions'), 'UNAVAILABLE')
  await openDatabaseAgain(app.databaseUrl)
  await app.logLine('the database is back')
  expect((await send('GET', '/sessions')).status).toBe(200)
  const lines = ['the database is out of connections', 'the database is back']
  expect(warnings().map(({ msg }) => msg)).toEqual(lines)
})

test('a role that is not admitted for a while, and acts as another role: calls are 503 until it is admitted; the log has two lines about it', async () => {
  const server = asSuperuser(inject('databaseUrl'))
  const role = `guest_${randomUUID().replaceAll('-', '')}`
  await executeOn(server, `CREATE ROLE ${role} LOGIN IN ROLE vslukh`)
  await executeOn(server, `ALTER ROLE ${role} SET role = 'vslukh'`)
  onTestFinished(async () => void (await executeOn(server, `DROP ROLE ${role}`)))
  const url = new URL(await databaseForTest())
  url.username = role
  const { app, send, warnings } = await startApp(url.href)
  expect((await send('POST', '/posts', { text: 'Слышно?' })).status).toBe(201)

  await executeOn(server, `ALTER ROLE ${role} NOLOGIN`)
  await executeOn(
    server,
    `SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE usename = '${role}'`,
  )
  // The first call finds that its connection was cut.
  await send('GET', '/sessions')
  await app.logLine('the database is away')
  for (let call = 0; call < 5; call++) expectRefusal(await send('GET', '/sessions'), 'UNAVAILABLE')
  await executeOn(server, `ALTER ROLE ${role} LOGIN`)
  await app.logLine('the database is back')
  await expect.poll(async () => (await send('GET', '/sessions')).status).toBe(200)
  expect(warnings().map(({ msg }) => msg)).toEqual(['the database is away', 'the database is back'])
})
