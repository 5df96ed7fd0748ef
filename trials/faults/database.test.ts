import { expect, test } from 'vitest'
import type { Outcome } from '../../e2e/testing/recorded-calls.ts'
import { postmasterOf, preventStart, startUsedProduct } from './embedded-database.ts'

test.each([
  ['killed', 'SIGKILL'],
  ['stopped', 'SIGINT'],
] as const)(
  'the database %s and prevented from starting: 503, except for what visitors read before; then the same process serves everything again',
  async (_how, signal) => {
    const { product, acknowledged, use, expectNothingLost } = await startUsedProduct()
    const load = use()
    await acknowledged.waitForMore(30)

    const release = await preventStart(product.dataDir)
    process.kill(await postmasterOf(product.dataDir), signal)
    const refused = () => load.outcomes.filter(({ status }) => status === 503).length
    await expect.poll(refused).toBeGreaterThan(20)
    expect((await fetch(`${product.url}/livez`)).status).toBe(200)
    expect((await fetch(`${product.url}/readyz`)).status).toBe(503)
    await release()
    await product.printed(/^(База данных снова работает\.)$/)

    const before = new Set(load.outcomes.filter(isServed).map(({ call }) => call))
    const backSince = Date.now()
    await expect
      .poll(() => {
        const since = load.outcomes.filter(({ began }) => began >= backSince)
        return new Set(since.filter(isServed).map(({ call }) => call))
      })
      .toEqual(before)
    await load.stop()

    const statuses = new Set(load.outcomes.map(({ status }) => status))
    expect([...statuses].sort()).toEqual([200, 201, 503])
    await expectNothingLost()
  },
)

const isServed = ({ status }: Outcome) => status === 200 || status === 201
