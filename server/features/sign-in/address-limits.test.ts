import { expect, test } from 'vitest'
import { expectTooMany } from '../../testing/expect-refusal.ts'
import { ask, strictApp, times } from '../../testing/limited-app.ts'
import { countCodes, from } from '../../testing/sign-in-calls.ts'

const MINUTE = 60

test('a forged X-Forwarded-For changes no limit', async () => {
  const app = await strictApp({ trustProxy: [] })
  for (let time = 0; time < 10; time++) {
    expect((await ask(app, `192.0.2.${time}`, '/logins')).status).toBe(404)
  }
  expectTooMany(await ask(app, '198.51.100.1'), { most: MINUTE })
})

test('with TRUST_PROXY only the address that the trusted proxy has added counts', async () => {
  const app = await strictApp()
  for (let time = 0; time < 10; time++) {
    expect((await ask(app, `192.0.2.${time}, 198.51.100.7`, '/logins')).status).toBe(404)
  }
  expectTooMany(await ask(app, '203.0.113.1, 198.51.100.7'), { most: MINUTE })
  expect((await ask(app, '198.51.100.7, 198.51.100.8')).status).toBe(201)
})

test('IPv6 addresses are counted by their /64, however they are spelt', async () => {
  const app = await strictApp()
  for (let host = 1; host <= 5; host++) {
    await ask(app, `2001:db8:1:2::${host}`, '/logins')
    await ask(app, `2001:0DB8:0001:0002:ffff:0:0:${host}`, '/logins')
  }
  expectTooMany(await ask(app, '2001:db8:1:2:3:4:5:6'), { most: MINUTE })
  expect((await ask(app, '2001:db8:1:3::1')).status).toBe(201)
})

// A twentieth: two a minute for a /56, eight for a /48. They come back so slowly that a slow
// machine counts the same.
const TWENTIETH = { rateLimitScale: 0.05 }

test('one IPv6 /56 has four times the limit of a /64, and does not affect the next /56', async () => {
  const app = await strictApp(TWENTIETH)
  for (let network = 0; network < 2; network++) {
    expect((await ask(app, `2001:db8:1:${network}::1`)).status).toBe(201)
  }
  expectTooMany(await ask(app, '2001:db8:1:ff::1'), { most: MINUTE })
  expect((await ask(app, '2001:db8:1:100::1')).status).toBe(201)
})

test('one IPv6 /48 has sixteen times the limit of a /64, and does not affect the next /48', async () => {
  const app = await strictApp(TWENTIETH)
  for (let network = 0; network < 8; network++) {
    expect((await ask(app, `2001:db8:1:${network}00::1`)).status).toBe(201)
  }
  expectTooMany(await ask(app, '2001:db8:1:ff00::1'), { most: MINUTE })
  expect((await ask(app, '2001:db8:2::1')).status).toBe(201)
})

test('refused requests of a /64 are not counted for its neighbours', async () => {
  const app = await strictApp()
  await times(60, () => ask(app, '2001:db8:1:2::1', '/logins'))
  expect((await ask(app, '2001:db8:1:3::1')).status).toBe(201)
})

test('an invalid address, such as 400 letters, is counted and answered like any other', async () => {
  const app = await strictApp()
  const garbage = 'a'.repeat(400)
  const answers = await times(10, () => ask(app, garbage, '/logins'))
  expect(countCodes(answers)).toEqual({ USER_NOT_FOUND: 10 })
  expectTooMany(await ask(app, 'unknown', '/logins'), { most: MINUTE })
  expect((await app.call('GET', '/posts', from(garbage))).status).toBe(200)
})

test('an IPv4 address written as IPv6 is the same address', async () => {
  const app = await strictApp()
  await times(10, () => ask(app, '192.0.2.1', '/logins'))
  expectTooMany(await ask(app, '::ffff:192.0.2.1'), { most: MINUTE })
  expect((await ask(app, '::ffff:192.0.2.2')).status).toBe(201)
})
