import { expect } from 'vitest'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { stopClock } from '../../testing/database/passing-time.ts'
import { expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest, strictApp, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('bytes that a balancer would judge before any node')

const app = await appForFile({ config: { trustProxy: ['127.0.0.1/32'] } })

test.each([
  ['400 digits', `${'1'.repeat(400)}.1`],
  ['a zone of 400 letters', `fe80::1%${'e'.repeat(400)}`],
  ['letters after an address', `198.51.100.7, ${'я'.repeat(200)}`],
  ['commas', ', ,,'],
])('X-Forwarded-For with %s is no reason for an error, in any call', async (_, value) => {
  const headers = { 'x-forwarded-for': Buffer.from(value).toString('latin1') }
  // The rate limits on codes are counted in the database, by address.
  const sent = { email: 'nobody@example.org', ip: headers['x-forwarded-for'] }
  const started = await startAt(app, '/logins', sent)
  expect(started.body.code).toBe('USER_NOT_FOUND')
  expect((await app.call('GET', '/posts', { headers })).status).toBe(200)
  expect((await fetch(app.url, { headers })).status).toBe(200)
})

test('an invalid entry and all left of it are ignored, and its sender counts as the proxy', async () => {
  stopClock()
  const strict = await strictApp({ rateLimitScale: 0.005 })
  const read = (value: string) =>
    strict.call('GET', '/posts', { headers: { 'x-forwarded-for': value } })
  // Fifteen for an address, however the invalid entry varies.
  for (let n = 0; n < 15; n++) {
    expect((await read(`198.51.100.${n}, nonsense ${n}`)).status).toBe(200)
  }
  expectTooMany(await read('more nonsense'), { most: 20 })
  expect((await read('nonsense, 198.51.100.1')).status).toBe(200)
  expect((await read('nonsense, 198.51.100.1:5050')).status).toBe(200)
})

const WARNING = 'a proxy that is not trusted sends X-Forwarded-For'

test('an untrusted proxy in a private network is logged once with the TRUST_PROXY to set', async () => {
  const proxied = { headers: { 'x-forwarded-for': '198.51.100.7' } }
  const ignorant = await appForTest({ config: { trustProxy: ['10.1.2.3'] } })
  for (let n = 0; n < 3; n++) await ignorant.call('GET', '/posts', proxied)
  const line = JSON.parse(await ignorant.logLine(WARNING))
  expect(line).toMatchObject({ proxy: '127.0.0.1', set: 'TRUST_PROXY=10.1.2.3,127.0.0.1' })
  expect(ignorant.logged.filter((logged) => logged.includes(WARNING))).toHaveLength(1)
  expect(ignorant.logged.join('')).not.toContain('198.51.100.7')

  await app.call('GET', '/reports/reasons', proxied)
  await app.logLine('"route":"/api/v1/reports/reasons"')
  expect(app.logged.join('')).not.toContain(WARNING)
})
