import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { signUpUsers, startProductForTest } from '../../e2e/testing/product.ts'
import type { Outcome } from '../../e2e/testing/recorded-calls.ts'
import { simulateUsers } from '../../e2e/testing/simulated-users.ts'
import { findCounterDifferences } from '../../server/features/posts/counters.task.ts'
import { freeze, postmasterOf, preventStart, withEmbeddedDatabase } from './embedded-database.ts'

/** How long visitors get a cached response without an Age header. */
const CACHED_MS = 1000
/** Time between caching a response and its arrival at the reader. */
const SLACK_MS = 250
const VISITORS_READ = /^GET .* by a visitor$/

test.each([
  ['killed', 'SIGKILL'],
  ['stopped', 'SIGINT'],
] as const)(
  'the database %s and prevented from starting: 503 with Retry-After, except for what visitors read before, marked by Age; then the same process serves everything again',
  async (_how, signal) => {
    const { product, client } = await startProductForTest()
    const users = await signUpUsers(client, 4)
    const acknowledged = new AcknowledgedWrites()
    const load = simulateUsers({ url: product.url, users, acknowledged })
    await acknowledged.waitForMore(30)

    const release = await preventStart(product.dataDir)
    const killedAt = Date.now()
    process.kill(await postmasterOf(product.dataDir), signal)
    await expect.poll(() => countRefused(load.outcomes)).toBeGreaterThan(20)
    await expect.poll(() => Date.now() - killedAt).toBeGreaterThan(2 * CACHED_MS)
    expect((await fetch(`${product.url}/livez`)).status).toBe(200)
    expect((await fetch(`${product.url}/readyz`)).status).toBe(503)
    const backAt = Date.now()
    await release()
    await product.printed(/^(База данных снова работает\.)$/)

    const before = new Set(load.outcomes.filter(isServed).map(({ call }) => call))
    const served = Date.now()
    await expect
      .poll(() => {
        const since = after(served, load.outcomes).filter(isServed)
        return new Set(since.map(({ call }) => call))
      })
      .toEqual(before)
    await load.stop()

    const statuses = new Set(load.outcomes.map(({ status }) => status))
    expect([...statuses].sort()).toEqual([200, 201, 503])
    const refused = load.outcomes.filter(({ status }) => status === 503)
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['UNAVAILABLE']))
    for (const { retryAfter } of refused) expect(retryAfter).toMatch(/^[1-9]\d*$/)

    const outage = load.outcomes.filter(({ began }) => began > killedAt && began < backAt)
    const lastContact = Math.max(killedAt, ...endsOf(outage, (call) => !VISITORS_READ.test(call)))
    const visitors = outage.filter((it) => isServed(it) && VISITORS_READ.test(it.call))
    const late = visitors.filter(({ began }) => began - lastContact > CACHED_MS + SLACK_MS)
    for (const { age } of late) expect(age).toMatch(/^\d+$/)
    expect(after(backAt, load.outcomes).at(-1)?.age).toBeNull()

    await withEmbeddedDatabase(product.dataDir, async (db) => {
      expect(await acknowledged.findLost(db)).toEqual([])
      expect(await findCounterDifferences(db)).toEqual([])
    })
  },
)

test('the database frozen: cached pages and lists are served to visitors within a second', async () => {
  const { product } = await startProductForTest()
  const read = async (path: string) => {
    const began = performance.now()
    const response = await fetch(product.url + path)
    await response.text()
    const { status, headers } = response
    return { status, age: headers.get('age'), ms: performance.now() - began }
  }
  const paths = ['/', '/api/v1/posts']
  for (const path of paths) {
    expect(await read(path)).toMatchObject({ status: 200, age: null })
    // Waits until the cached response is stale.
    await delay(2 * CACHED_MS)
    const thaw = await freeze(product.dataDir)
    try {
      const { ms, ...answer } = await read(path)
      expect(answer).toEqual({ status: 200, age: expect.stringMatching(/^[1-9]\d*$/) })
      expect(ms).toBeLessThan(1000)
    } finally {
      thaw()
    }
    await expect.poll(() => read(path)).toMatchObject({ status: 200, age: null })
  }
})

const isServed = ({ status }: Outcome) => status === 200 || status === 201

function countRefused(outcomes: Outcome[]): number {
  return outcomes.filter(({ status }) => status === 503).length
}

function after(moment: number, outcomes: Outcome[]): Outcome[] {
  return outcomes.filter(({ began }) => began >= moment)
}

function endsOf(outcomes: Outcome[], matches: (call: string) => boolean): number[] {
  return outcomes.filter((it) => isServed(it) && matches(it.call)).map(({ ended }) => ended)
}
