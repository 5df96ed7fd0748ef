import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeEach, expect, inject, test } from 'vitest'
import { freshDatabase } from '../../testing/database/databases.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
import { appForTest, startTestApp, testPerNode } from '../../testing/test-app.ts'

/** A connection is waited for longer. */
const AT_ONCE_MS = 700
const REFUSALS = 12
/** A statement without an answer, but not a second one after it. */
const ONE_TIMEOUT_MS = 6500
/** How many requests the server runs at once. */
const PLACES = 64

const testPerCache = testPerNode('responses that each node caches for itself')

const database = await freshDatabase(inject('databaseUrl'))
const proxy = await openPostgresProxy(database.url)
const app = await startTestApp({
  databaseUrl: proxy.url,
  config: { logLevel: 'debug' },
  keepsTimeLimits: true,
})
afterAll(async () => {
  await app.close()
  proxy.close()
  await database.drop()
})
const olga = await app.signUp()

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, { headers })
const readPost = (id: string) => app.call('GET', `/posts/${id}`)

async function publishTimed() {
  const began = performance.now()
  const { token } = olga
  const { status, headers } = await app.call('POST', '/posts', { token, body: { text: 'Слышно?' } })
  return { status, retryAfter: headers.get('retry-after'), ms: performance.now() - began }
}

/** Publishes in vain several times. A busy machine may hold up one of the refusals. */
async function expectRefusedAtOnce(): Promise<void> {
  let late = 0
  for (let n = 0; n < REFUSALS; n++) {
    const { status, retryAfter, ms } = await publishTimed()
    expect([status, retryAfter]).toEqual([503, '2'])
    if (ms >= AT_ONCE_MS) late++
  }
  expect(late).toBeLessThanOrEqual(1)
}

// A node that does not receive the changes of others yet, as after an outage, caches nothing: a read takes queries.
beforeEach(async () => {
  const from = app.logged.length
  const isCached = async () => {
    await app.call('GET', '/posts')
    const reads = app.logged.slice(from).filter((line) => line.includes('"method":"GET"'))
    return reads.some((line) => !line.includes('"dbMs"'))
  }
  await expect.poll(isCached).toBe(true)
})

/** Runs `work` while nobody can connect to the database; returns the lines that were logged from then until it is back. */
async function duringOutage(begin: () => void, end: () => void, work: () => Promise<void>) {
  const from = app.logged.length
  begin()
  try {
    await work()
  } finally {
    end()
  }
  await expect.poll(() => app.logged.slice(from).join('')).toContain('the database is back')
  await expect.poll(async () => (await publishTimed()).status).toBe(201)
  return app.logged.slice(from).map((line) => JSON.parse(line))
}

testPerCache(
  'while the database is away, visitors get stale responses and all others 503 at once',
  async () => {
    const [kept, removed, edited] = await Promise.all([
      app.publish(olga, 'Остаётся'),
      app.publish(olga, 'Удалено'),
      app.publish(olga, 'До правки'),
    ])
    const fresh = await readPost(kept.id)
    const page = await (await read(`/posts/${kept.id}`)).text()
    for (const { id } of [removed, edited]) {
      await readPost(id)
      await read(`/posts/${id}`)
    }
    await read('/feed.atom')
    const { token } = olga
    await app.call('DELETE', `/posts/${removed.id}`, { token })
    await app.call('PATCH', `/posts/${edited.id}`, { token, body: { text: 'После правки' } })
    await app.publish(olga, 'Новое')

    const lines = await duringOutage(proxy.cut, proxy.repair, async () => {
      await expect.poll(async () => (await readPost(kept.id)).headers.get('age')).toMatch(/^\d+$/)
      await app.logLine('the database is away')
      const answer = await readPost(kept.id)
      expect([answer.status, answer.body]).toEqual([200, fresh.body])
      const { age, ...headers } = Object.fromEntries(answer.headers)
      const stale = { 'cache-status': `vslukh; hit; ttl=-${age}`, 'cache-control': 'no-store' }
      expect(headers).toMatchObject(stale)

      const readPage = () => read(`/posts/${kept.id}`, { cookie: 'theme=light' })
      // For a tenth of a second a page is served as it was made.
      await expect.poll(async () => (await readPage()).headers.get('age')).toMatch(/^\d+$/)
      const savedPage = await readPage()
      expect(savedPage.headers.get('cache-control')).toBe('no-store, no-transform')
      const marked = page.replace('id="first-page">{', 'id="first-page">{"saved":true,')
      expect(await savedPage.text()).toBe(marked)
      expect(await (await read(`/posts/${kept.id}`)).text()).toBe(marked)

      for (const { id } of [removed, edited]) {
        expect((await readPost(id)).status).toBe(503)
        expect(await (await read(`/posts/${id}`)).text()).not.toContain('first-page')
      }
      expect((await read('/feed.atom')).status).toBe(503)
      expect((await app.call('GET', `/posts/${kept.id}`, { token })).status).toBe(503)
      await expectRefusedAtOnce()
    })
    const told = lines.filter(({ level }) => level === 'warn' || level === 'error')
    expect(told.map(({ msg }) => msg)).toEqual(['the database is away', 'the database is back'])
    expect(told[1].refused).toBeGreaterThanOrEqual(16)
    expect(told[1].served).toBeGreaterThanOrEqual(4)
    expect(lines.filter(({ status }) => status === 503)).toEqual([])

    const again = await readPost(kept.id)
    expect([again.status, again.headers.get('age')]).toEqual([200, null])
  },
)

testPerCache(
  'a frozen database is noticed within seconds: pending reads get the stale response, and writes are refused at once',
  async () => {
    const { id } = await app.publish(olga)
    await readPost(id)
    const outages = app.logged.filter((line) => line.includes('the database is away')).length
    await duringOutage(proxy.freeze, proxy.thaw, async () => {
      const began = performance.now()
      const own = app.call('GET', `/posts/${id}`, { token: olga.token })
      // They take every place, and hold it until their statements end.
      const crowd = Array.from({ length: PLACES }, (_, n) =>
        app.call('GET', `/posts?page=${n + 2}`),
      )
      const away = app.logLine('the database is away', outages + 1).then(() => 'away')
      const statuses = new Set<number>()
      do statuses.add((await readPost(id)).status)
      while ((await Promise.race([away, setImmediate('not yet')])) !== 'away')
      expect([...statuses]).toEqual([200])
      for (const { status } of await Promise.all(crowd)) expect(status).toBe(503)
      expect((await own).status).toBe(503)
      expect(performance.now() - began).toBeLessThan(ONE_TIMEOUT_MS)
      await expectRefusedAtOnce()
    })
  },
)

testPerCache(
  'a post that another node removed before the outage is not served; one that it removes during it is served until the node is back',
  async () => {
    const other = await appForTest({ databaseUrl: database.url })
    const { token } = olga
    const [before, meanwhile] = await Promise.all([other.publish(olga), other.publish(olga)])
    for (const { id } of [before, meanwhile]) expect((await readPost(id)).status).toBe(200)
    await other.call('DELETE', `/posts/${before.id}`, { token })
    await expect.poll(async () => (await readPost(before.id)).status).toBe(404)
    await readPost(meanwhile.id)

    await duringOutage(proxy.cut, proxy.repair, async () => {
      await expect.poll(async () => (await readPost(meanwhile.id)).headers.has('age')).toBe(true)
      expect((await readPost(before.id)).status).toBe(503)
      expect((await other.call('DELETE', `/posts/${meanwhile.id}`, { token })).status).toBe(204)
      expect((await readPost(meanwhile.id)).status).toBe(200)
    })
    expect((await readPost(meanwhile.id)).status).toBe(404)
  },
)

test('one connection that breaks is no outage', async () => {
  const from = app.logged.length
  await readPost('1')
  await app.call('GET', '/sessions', { token: olga.token })
  proxy.cut()
  proxy.repair()
  await expect.poll(async () => (await publishTimed()).status).toBe(201)
  expect(app.logged.slice(from).join('')).not.toContain('the database is away')
})
