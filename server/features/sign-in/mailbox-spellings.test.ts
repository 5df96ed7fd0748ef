import { expect, test } from 'vitest'
import { atOnce } from '../../testing/at-once.ts'
import { expectTooMany } from '../../testing/expect-refusal.ts'
import { passMailLimitTime } from '../../testing/passing-time.ts'
import { countCodes, startAt } from '../../testing/sign-in-calls.ts'
import { appForTest, mailAppForTest } from '../../testing/test-app.ts'

const MINUTE = 60
const STRICT = { rateLimitScale: 1, trustProxy: ['127.0.0.1'] }

const SPELLINGS = [
  (n: number) => `olga+${n}@example.org`,
  (n: number) => `OLGA+wall${n}@example.org.`,
  (n: number) => `ｏlga+${n}@ｅxample.org`,
]

test('one mailbox, however spelt, gets a code mail a minute and five at once, requested from twenty addresses', async () => {
  const { app, mailbox } = await mailAppForTest(STRICT)
  for (let minute = 0; minute < 8; minute++) {
    const asks = Array.from({ length: 20 }, (_, n) => () => {
      const email = SPELLINGS[n % 3]?.(minute * 20 + n) ?? ''
      const ip = `198.51.100.${n}`
      return startAt(app, '/registrations', { email, ip, clientToken: `${minute}/${n}` })
    })
    const { ok = 0 } = countCodes(await atOnce(asks))
    expect(ok).toBe(minute < 5 ? 1 : 0)
    await passMailLimitTime(app, MINUTE)
  }
  await app.logLine('mail sent', 5)
  expect(mailbox.mails).toHaveLength(5)
})

test('addresses that differ in dots are one mailbox at Gmail, and several elsewhere', async () => {
  const app = await appForTest({ config: STRICT })
  let asked = 0
  const at = (email: string) =>
    startAt(app, '/registrations', { email, ip: `10.1.0.${asked++}`, clientToken: email })
  expect((await at('o.l.ga@gmail.com')).status).toBe(201)
  expectTooMany(await at('ol.ga+1@googlemail.com'), { most: MINUTE })
  expect((await at('o.l.ga@example.org')).status).toBe(201)
  expect((await at('ol.ga@example.org')).status).toBe(201)
})
