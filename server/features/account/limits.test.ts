import { expect, test } from 'vitest'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import { startChange } from '../../testing/calls/email-change-calls.ts'
import { from } from '../../testing/calls/sign-in-calls.ts'
import { passLimitTime } from '../../testing/database/passing-time.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForFile, strictApp, testPerNode } from '../../testing/test-app.ts'

const MINUTE = 60
const HOUR = 3600

const app = await appForFile({ config: { rateLimitScale: 1, trustProxy: ['127.0.0.1'] } })

let number = 0
/** Requests an e-mail change to a new address, each time from another IP. */
const changeEmail = (user: TestUser) => startChange(app, user, newEmail(), `10.1.0.${number++}`)

test('a user may request 5 e-mail changes and then one in 12 minutes, past 15 one in 96 minutes; others get 429 with Retry-After', async () => {
  const olga = await app.signUp()
  const petr = await app.signUp()
  for (let hour = 0; hour < 3; hour++) {
    for (let time = 0; time < 5; time++) expect((await changeEmail(olga)).status).toBe(201)
    if (hour === 0) {
      expectTooMany(await changeEmail(olga), { least: 11 * MINUTE, most: 12 * MINUTE })
      expect((await changeEmail(petr)).status).toBe(201)
    }
    await passLimitTime(app, HOUR)
  }
  expect((await changeEmail(olga)).status).toBe(201)
  expectTooMany(await changeEmail(olga), { least: 11 * MINUTE, most: 12 * MINUTE })
  await passLimitTime(app, 12 * MINUTE)
  expect((await changeEmail(olga)).status).toBe(201)
  expectTooMany(await changeEmail(olga), { least: 95 * MINUTE, most: 96 * MINUTE })
})

test('a user may change the username 3 times and then once in 8 hours, sooner gets 429 with Retry-After; changes to the same name are not counted', async () => {
  const olga = await app.signUp()
  const petr = await app.signUp()
  const take = ({ token }: TestUser, username: string) =>
    app.call('PATCH', '/users/current/profile', { token, body: { username } })
  for (const username of ['olga_first', 'olga_second', 'Olga_Second']) {
    expect((await take(olga, username)).status).toBe(200)
    expect((await take(olga, username)).status).toBe(200)
    for (const refused of [petr.username, 'admin', 'o', 'ольга']) {
      expect((await take(olga, refused)).status).toBe(400)
    }
  }
  expectTooMany(await take(olga, 'olga_fourth'), { least: 8 * HOUR - MINUTE, most: 8 * HOUR })
  expect((await take(olga, 'Olga_Second')).status).toBe(200)
  expect((await take(petr, 'petr_first')).status).toBe(200)
  await passLimitTime(app, 8 * HOUR)
  expect((await take(olga, 'olga_fourth')).status).toBe(200)
})

testPerNode('limits counted in memory, by each node for itself')(
  'a user may check 20 usernames a minute, whatever their IP',
  async () => {
    // A fifth of the limit: four.
    const app = await strictApp({ rateLimitScale: 0.2 })
    const olga = await app.signUp()
    const petr = await app.signUp()
    const check = ({ token }: TestUser, index: number) => {
      const path = `/users/some_name_${index}/validation`
      return app.call('GET', path, { token, ...from(`10.2.0.${index}`) })
    }
    for (let time = 1; time <= 4; time++) expect((await check(olga, time)).status).toBe(200)
    expectTooMany(await check(olga, 5), { most: 15 })
    expect((await check(petr, 5)).status).toBe(200)
  },
)
