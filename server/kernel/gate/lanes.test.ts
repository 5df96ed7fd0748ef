import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { sql } from 'kysely'
import { expect, onTestFinished } from 'vitest'
import { appForTest, type TestApp, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('how much one node does at once')

const appBehindProxy = () => appForTest({ config: { trustProxy: ['127.0.0.1'] } })

/** Asks from an address, and leaves what comes unread until the test has finished. */
async function ask({ url }: TestApp, path: string, address = '10.0.0.1'): Promise<IncomingMessage> {
  const request = get(url + path, { headers: { 'x-forwarded-for': address } })
  onTestFinished(() => void request.destroy())
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

const statusOf = async (asked: Promise<IncomingMessage>) => (await asked).statusCode

test('one network opens 200 streams, however their address is spelt, which take no slot of calls; further ones of it are refused for a minute, and others are not', async () => {
  const app = await appBehindProxy()
  const open = (n: number) => ask(app, n % 2 ? '/api/v1/live?x=1' : '/api/v1/l%69ve')
  const opened = await Promise.all(Array.from({ length: 220 }, (_, n) => open(n)))
  expect(opened.filter(({ statusCode }) => statusCode === 200)).toHaveLength(200)
  for (const path of ['/api/v1/reports/reasons', '/api/v1/posts?userId=1']) {
    expect(await statusOf(ask(app, path))).toBe(200)
  }
  const refused = await ask(app, '/api/v1/live')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '60'])
  expect(await statusOf(ask(app, '/api/v1/live', '10.0.0.2'))).toBe(200)
  // A stream that ends makes room for another.
  opened.find(({ statusCode }) => statusCode === 200)?.destroy()
  await expect.poll(() => statusOf(ask(app, '/api/v1/live'))).toBe(200)
})

test('one network cannot take all slots of calls, and health checks need none', async () => {
  // More than the slots: the checks get a connection while all slots are taken.
  const poolLimits = { connections: 90 }
  const app = await appForTest({ config: { trustProxy: ['127.0.0.1'] }, poolLimits })
  const held = await app.db.startTransaction().execute()
  await sql`LOCK TABLE posts`.execute(held)
  const read = (n: number, address: string) => ask(app, `/api/v1/posts?userId=${n + 1}`, address)
  const slow = Array.from({ length: 60 }, (_, n) => read(n, '10.0.0.1'))
  const others = await Promise.all(
    Array.from({ length: 8 }, () => statusOf(ask(app, '/api/v1/nothing', '10.0.0.2'))),
  )
  expect(new Set(others)).toEqual(new Set([404]))
  for (let n = 60; n < 80; n++) slow.push(read(n, '10.0.0.3'))
  expect(await statusOf(Promise.race(slow))).toBe(503)
  expect(await statusOf(ask(app, '/livez?x'))).toBe(200)
  expect(await statusOf(ask(app, '/readyz?x'))).toBe(200)
  await held.rollback().execute()
  await Promise.all(slow)
})

test('a network that hangs up keeps its slots until its calls have ended', async () => {
  const app = await appForTest({ config: { trustProxy: ['127.0.0.1'] } })
  const held = await app.db.startTransaction().execute()
  await sql`LOCK TABLE posts`.execute(held)
  const headers = { 'x-forwarded-for': '10.0.0.1' }
  const slow = Array.from({ length: 48 }, (_, n) =>
    get(`${app.url}/api/v1/posts?userId=${n + 1}`, { headers }).on('error', () => {}),
  )
  const again = () => statusOf(ask(app, '/api/v1/nothing'))
  await expect.poll(again).toBe(503)
  for (const request of slow) request.destroy()
  expect([await again(), await again()]).toEqual([503, 503])
  await held.rollback().execute()
  await expect.poll(again).toBe(404)
})
