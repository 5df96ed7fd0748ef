import type { Socket } from 'node:net'
import fastify from 'fastify'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { atOnce } from '../../testing/at-once.ts'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { listeningNodes } from '../../testing/databases.ts'
import { limitsInMemory } from '../../testing/limits-in-memory.ts'
import { openNews } from '../../testing/news-reader.ts'
import { appForTest, NODES, startTestApp, testPerNode } from '../../testing/test-app.ts'
import { CHANNEL, payloadOf } from '../cache/change-feed.ts'
import { Live } from './live.ts'

test('a stream needs no session, is not buffered or stored, and says at once when to come back', async () => {
  const app = await appForTest()
  const { response, text } = await openNews(app.url)
  expect(response.statusCode).toBe(200)
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  })
  await expect.poll(text).toMatch(/^retry: \d{4,5}\n\n/)
})

test('events for a post and a reply arrive within a second on every node', async () => {
  const databaseUrl = await databaseForTest()
  const nodes = await Promise.all([appForTest({ databaseUrl }), appForTest({ databaseUrl })])
  const [first, second] = nodes
  await expect.poll(() => listeningNodes(first)).toBe(nodes.length * NODES)
  const anna = await first.signUp()
  const petr = await first.signUp()
  const streams = await Promise.all(nodes.map(({ url }) => openNews(url)))
  const post = await first.publish(anna)
  const published = { id: post.id, data: { newest: post.id, by: anna.id } }
  for (const { events } of streams) await expect.poll(events).toEqual([published])
  const own = await second.reply(anna, post.id)
  const reply = await second.reply(petr, post.id)
  const answered = [`${post.id}:${own.id}:${anna.id}`, anna.id, `${post.id}:${reply.id}:${petr.id}`]
  for (const { events } of streams) {
    await expect.poll(() => events().flatMap(({ data }) => data.to ?? [])).toEqual(answered)
  }
})

test('a stream begins with the newest post and the replies since its page began to load', async () => {
  const app = await appForTest()
  const [anna, petr] = await Promise.all([app.signUp(), app.signUp()])
  const post = await app.publish(anna)
  const { events } = await openNews(app.url)
  const reply = await app.reply(petr, post.id)
  const answered = {
    newest: post.id,
    by: anna.id,
    to: [anna.id, `${post.id}:${reply.id}:${petr.id}`],
  }
  await expect.poll(() => events().at(-1)?.data).toEqual(answered)
  const late = await openNews(app.url)
  await expect.poll(() => late.events()[0]?.data).toEqual(answered)
})

test('an event names the owner of a replied post even if it is muted, so that mutes stay private', async () => {
  const app = await appForTest()
  const [anna, petr] = await Promise.all([app.signUp(), app.signUp()])
  const post = await app.publish(anna)
  const muted = await app.call('PUT', `/posts/${post.id}/mute`, { token: anna.token })
  expect(muted.status).toBe(204)
  const { events } = await openNews(app.url)
  const reply = await app.reply(petr, post.id)
  const answered = [anna.id, `${post.id}:${reply.id}:${petr.id}`]
  await expect.poll(() => events().at(-1)?.data.to).toEqual(answered)
})

test('many posts are one event a second, and more than 50 replied authors are «many»', async () => {
  const app = await appForTest()
  const people = await Promise.all(Array.from({ length: 10 }, () => app.signUp()))
  const stream = await openNews(app.url)
  const before = performance.now()
  await Promise.all([...people, ...people, ...people].map((user) => app.publish(user)))
  const answered = Array.from({ length: 51 }, (_, n) => `${n}`)
  const payload = payloadOf('another-node', { kind: 'added', answered })
  await sql`SELECT pg_notify(${CHANNEL}, ${payload})`.execute(app.db)
  await expect.poll(() => stream.events().some(({ data }) => data.to === 'many')).toBe(true)
  const seconds = (performance.now() - before) / 1000
  expect(stream.events().length).toBeLessThanOrEqual(seconds + 3)
})

test('a client that has stopped reading is dropped once its buffers are full, and others are not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'performance'] })
  const live = new Live(limitsInMemory(() => 0))
  const http = fastify()
  onTestFinished(async () => {
    vi.useRealTimers()
    live.close()
    await http.close()
  })
  const connections: Socket[] = []
  http.server.on('connection', (socket) => connections.push(socket))
  live.serve(http)
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const stopped = await openNews(url)
  stopped.response.pause()
  const reading = await openNews(url)
  const people = Array.from({ length: 50 }, (_, n) => `${10n ** 18n + BigInt(n)}`)
  // Linux keeps some megabytes for a connection that nobody reads.
  for (let second = 1; second < 30_000 && !connections[0]?.destroyed; second++) {
    live.note({ kind: 'added', newest: { id: `${second}`, by: '1' }, answered: people })
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(connections.map(({ destroyed }) => destroyed)).toEqual([true, false])
  live.note({ kind: 'added', newest: { id: '40000', by: '1' }, answered: [] })
  vi.advanceTimersByTime(1000)
  vi.useRealTimers()
  await expect.poll(reading.text).toContain('"newest":"40000"')
})

testPerNode('how much one node does at once')(
  'two thousand streams are open at once; further ones are refused, and the wall is served meanwhile',
  async () => {
    const app = await appForTest({ config: { trustProxy: ['127.0.0.1'] } })
    const open = (n: number) => openNews(app.url, `10.0.${n % 10}.1`)
    // Beside busy tests, of 2000 requests at once some came after more than five seconds.
    const streams = await atOnce(Array.from({ length: 2000 }, (_, n) => () => open(n)))
    expect(streams.filter(({ response }) => response.statusCode === 200)).toHaveLength(2000)
    const { response: refused } = await openNews(app.url, '10.1.0.1')
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '60'])
    expect((await app.call('GET', '/posts')).status).toBe(200)
    const anna = await app.signUp()
    await app.publish(anna)
  },
)

testPerNode('bytes that a balancer would judge before any node')(
  'a server that drains ends its streams, each with a time of its own to come back',
  async () => {
    const app = await startTestApp()
    const streams = await Promise.all(Array.from({ length: 8 }, () => openNews(app.url)))
    await app.close()
    await expect.poll(() => streams.every(({ response }) => response.readableEnded)).toBe(true)
    const retries = streams.map((stream) => Number(/retry: (\d+)/.exec(stream.text())?.[1]))
    expect(Math.min(...retries)).toBeGreaterThanOrEqual(1000)
    expect(Math.max(...retries)).toBeLessThanOrEqual(10_000)
    expect(new Set(retries).size).toBeGreaterThan(1)
  },
)
