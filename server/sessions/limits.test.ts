import { expect } from 'vitest'
import { expectTooMany } from '../testing/expect-too-many.ts'
import { testPerNode } from '../testing/per-node.ts'
import { from, tally } from '../testing/sign-in.ts'
import { appForTest } from '../testing/test-app.ts'

const test = testPerNode('limits counted in memory, by each node for itself')

test('one IP gets 150 refreshes in 5 minutes, whoever refreshes; then 429 with Retry-After', async () => {
  const app = await appForTest({ config: { rateLimitScale: 1, trustProxy: ['127.0.0.1'] } })
  const { clientToken, cookie } = await app.signUp()
  const refresh = (ip: string, sent = cookie) =>
    app.call('PATCH', '/sessions/current', {
      body: { clientToken },
      headers: { cookie: sent, ...from(ip).headers },
    })

  const answers = []
  for (let time = 0; time < 149; time++) answers.push(await refresh('192.0.2.1', 'session=noise'))
  answers.push(await refresh('192.0.2.1'))
  expect(tally(answers)).toEqual({ UNAUTHORIZED: 149, ok: 1 })
  expectTooMany(await refresh('192.0.2.1'), { least: 60, most: 300 })
  expect((await refresh('192.0.2.2')).status).toBe(200)
})
