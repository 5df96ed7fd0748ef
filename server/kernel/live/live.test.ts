import type { Socket } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test, vi } from 'vitest'
import { decide, report, signUpModerator } from '../../testing/calls/moderation-calls.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { countListeningNodes } from '../../testing/database/databases.ts'
import { openNews } from '../../testing/http/news-reader.ts'
import { limitsInMemory } from '../../testing/limits-in-memory.ts'
import {
  appForFile,
  appForTest,
  NODES,
  startTestApp,
  type TestApp,
  testPerNode,
} from '../../testing/test-app.ts'
import { CHANNEL, payloadOf } from '../cache/change-feed.ts'
import { Live } from './live.ts'

const app = await appForFile()

test('a stream needs no session, is not buffered or stored, and says at once when to come back', async () => {
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

test('events for a post and replies arrive on every node, also for a muted post, so that mutes stay private; later streams begin with them', async () => {
  const databaseUrl = await databaseForTest()
  const nodes = await Promise.all([appForTest({ databaseUrl }), appForTest({ databaseUrl })])
  const [first, second] = nodes
  await expect.poll(() => countListeningNodes(first)).toBe(nodes.length * NODES)
  const anna = await first.signUp()
  const petr = await first.signUp()
  const streams = await Promise.all(nodes.map(({ url }) => openNews(url)))
  const post = await first.publish(anna)
  const news = { newest: post.id, by: anna.id }
  for (const { events } of streams) await expect.poll(events).toEqual([{ id: post.id, data: news }])
  const own = await second.reply(anna, post.id)
  const muted = await first.call('PUT', `/posts/${post.id}/muted`, { token: anna.token })
  expect(muted.status).toBe(204)
  const reply = await second.reply(petr, post.id)
  const to = [`${post.id}:${own.id}:${anna.id}`, anna.id, `${post.id}:${reply.id}:${petr.id}`]
  for (const { events } of streams) {
    await expect.poll(() => events().flatMap(({ data }) => data.to ?? [])).toEqual(to)
  }
  await expect.poll(() => readFormer(first)).toEqual({ ...news, to })
})

test('many posts are one event a second, and more than 50 replied authors are «many»', async () => {
  const anna = await app.signUp()
  const stream = await openNews(app.url)
  const before = performance.now()
  await Promise.all(Array.from({ length: 30 }, () => app.publish(anna)))
  const answered = Array.from({ length: 51 }, (_, n) => `${n}`)
  const payload = payloadOf('another-node', { kind: 'added', answered })
  await app.sql`SELECT pg_notify(${CHANNEL}, ${payload})`
  await expect.poll(() => stream.events().some(({ data }) => data.to === 'many')).toBe(true)
  const seconds = (performance.now() - before) / 1000
  expect(stream.events().length).toBeLessThanOrEqual(seconds + 3)
})

test('a client that has stopped reading is dropped once its buffers are full, and others are not', async () => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  })
  const [live, http, limits] = [new Live(), fastify(), limitsInMemory(() => 0)]
  onTestFinished(async () => {
    vi.useRealTimers()
    live.close()
    await http.close()
  })
  live.serve(http, limits)
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const connections: Socket[] = []
  http.server.on('connection', (socket) => connections.push(socket))
  const stopped = await openNews(url)
  stopped.response.pause()
  const reading = await openNews(url)
  const people = Array.from({ length: 50 }, (_, n) => `${10n ** 18n + BigInt(n)}`)
  // Linux keeps some megabytes for a connection that nobody reads.
  for (let second = 1; second < 30_000 && !connections[0]?.destroyed; second++) {
    live.announce({ kind: 'added', newest: { id: `${second}`, by: '1' }, answered: people })
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(connections.map(({ destroyed }) => destroyed)).toEqual([true, false])
  live.announce({ kind: 'added', newest: { id: '40000', by: '1' }, answered: [] })
  vi.advanceTimersByTime(1000)
  vi.useRealTimers()
  await expect.poll(reading.text).toContain('"newest":"40000"')
})

test('a post that a moderator removes, alone or with the author’s recent posts, is in no later event', async () => {
  const app = await appForTest()
  const moderator = await signUpModerator(app)
  const author = await app.signUp()
  const alone = await app.publish(author)
  await expect.poll(() => readFormer(app)).toMatchObject({ newest: alone.id })
  await report(app, await app.signUp(), { postId: alone.id })
  const decision = { postId: alone.id, verdict: 'remove', reason: 'Спам' } as const
  expect(await decide(app, moderator, decision)).toMatchObject({ status: 204 })
  await expect.poll(async () => (await readFormer(app))?.newest).toBeUndefined()

  const recent = await app.publish(author)
  await expect.poll(() => readFormer(app)).toMatchObject({ newest: recent.id })
  const body = { reason: 'Спам', days: 7, removesRecent: true }
  const block = ['PUT', `/moderation/users/${author.id}/block`] as const
  const blocked = await app.call(...block, { token: moderator.token, body })
  expect(blocked).toMatchObject({ status: 204 })
  await expect.poll(async () => (await readFormer(app))?.newest).toBeUndefined()
})

/** Returns the event with which a new stream begins; undefined if there is none. */
async function readFormer({ url }: TestApp) {
  const stream = await openNews(url)
  await expect.poll(stream.text).toMatch(/^retry/)
  return stream.events()[0]?.data
}

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
