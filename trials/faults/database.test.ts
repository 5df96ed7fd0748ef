import { expect, test } from 'vitest'
import type { Outcome } from '../../e2e/testing/recorded-calls.ts'
import { postmasterOf, preventStart, startUsedProduct } from './embedded-database.ts'

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
    const { product, acknowledged, use, expectNothingLost } = await startUsedProduct()
    const load = use()
    await acknowledged.waitForMore(30)

    const release = await preventStart(product.dataDir)
    const killedAt = Date.now()
    process.kill(await postmasterOf(product.dataDir), signal)
    const refusals = () => load.outcomes.filter(({ status }) => status === 503)
    await expect.poll(() => refusals().length).toBeGreaterThan(20)
    await expect.poll(() => Date.now() - killedAt).toBeGreaterThan(2 * CACHED_MS)
    expect((await fetch(`${product.url}/livez`)).status).toBe(200)
    expect((await fetch(`${product.url}/readyz`)).status).toBe(503)
    const backAt = Date.now()
    await release()
    await product.printed(/^(База данных снова работает\.)$/)

    const before = new Set(load.outcomes.filter(isServed).map(({ call }) => call))
    const backSince = Date.now()
    await expect
      .poll(() => {
        const since = after(backSince, load.outcomes).filter(isServed)
        return new Set(since.map(({ call }) => call))
      })
      .toEqual(before)
    await load.stop()

    const statuses = new Set(load.outcomes.map(({ status }) => status))
    expect([...statuses].sort()).toEqual([200, 201, 503])
    expect(new Set(refusals().map(({ body }) => body.code))).toEqual(new Set(['UNAVAILABLE']))
    for (const { retryAfter } of refusals()) expect(retryAfter).toMatch(/^[1-9]\d*$/)

    const outage = load.outcomes.filter(({ began }) => began > killedAt && began < backAt)
    const served = outage.filter(isServed)
    const visitors = served.filter(({ call }) => VISITORS_READ.test(call))
    const contacts = served.filter((outcome) => !visitors.includes(outcome))
    const lastContact = Math.max(killedAt, ...contacts.map(({ ended }) => ended))
    const late = visitors.filter(({ began }) => began - lastContact > CACHED_MS + SLACK_MS)
    for (const { age } of late) expect(age).toMatch(/^\d+$/)
    expect(after(backAt, load.outcomes).at(-1)?.age).toBeNull()

    await expectNothingLost()
  },
)

const isServed = ({ status }: Outcome) => status === 200 || status === 201

function after(moment: number, outcomes: Outcome[]): Outcome[] {
  return outcomes.filter(({ began }) => began >= moment)
}
