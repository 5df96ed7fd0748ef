import { expect } from 'vitest'
import { report } from '../../testing/calls/moderation-calls.ts'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { shutDatabase } from '../../testing/database/databases.ts'
import { sendRaw } from '../../testing/http/raw-http.ts'
import type { MailboxOptions } from '../../testing/mail/mailbox.ts'
import { freePort } from '../../testing/process/free-port.ts'
import { mailAppForTest, testPerNode } from '../../testing/test-app.ts'
import {
  storeBackup,
  storeBackupFailure,
  storeVerificationFailure,
} from '../backup/backup-state.repository.ts'

const test = testPerNode('responses that each node caches for itself')

/** Scrapes a node. Returns the value of each series by its name and labels. */
async function scrape(port: number): Promise<Map<string, number>> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const samples = (await answer.text()).matchAll(/^([a-z].*) (\S+)$/gm)
  return new Map([...samples].map(([, series = '', value]) => [series, Number(value)]))
}

/** Adds up the series whose names and labels match. */
function sum(series: Map<string, number>, pattern: RegExp): number {
  return [...series].filter(([key]) => pattern.test(key)).reduce((total, [, n]) => total + n, 0)
}

async function meteredApp(config: object = {}, options?: MailboxOptions) {
  const metricsPort = await freePort()
  return { ...(await mailAppForTest({ ...config, metricsPort }, options)), metricsPort }
}

test('requests are counted by the pattern of their route and by status, missing pages without one', async () => {
  const { app, metricsPort } = await meteredApp()
  const olga = await app.signUp()
  const { id } = await app.publish(olga)
  const asked = [
    [`/api/v1/posts/${id}`, '/api/v1/posts/:id', 200],
    ['/api/v1/posts/987654321', '/api/v1/posts/:id', 404],
    ['/', '/', 200],
    [`/posts/${id}`, '/posts/:id', 200],
    ['/posts/987654321', '/posts/:id', 404],
    ['/settings/devices', '/settings/devices', 200],
    [`/posts/${id}/replies.atom`, '/posts/:id/replies.atom', 200],
    ['/no/such/page?secret=1', 'none', 404],
  ] as const
  // On a busy machine the server does not wait for the first page to be rendered.
  await expect.poll(async () => (await fetch(`${app.url}/search`)).status).toBe(200)
  const requests = 'vslukh_http_request_duration_seconds'
  const counts = async () => {
    const series = await scrape(metricsPort)
    return asked.map(([, route, status]) =>
      series.get(`${requests}_count{method="GET",route="${route}",status="${status}"}`),
    )
  }
  // Rendered for a visitor and filled by the browser for who is signed in.
  for (const [times, headers] of [
    [1, {}],
    [2, { cookie: olga.cookie }],
  ] as const) {
    for (const [path] of asked) await (await fetch(app.url + path, { headers })).text()
    // A request is counted once its answer has gone out, which the client may know first.
    await expect.poll(counts).toEqual(asked.map(() => times))
  }
  const series = await scrape(metricsPort)
  const inAll = sum(series, new RegExp(`^${requests}_bucket.*le="\\+Inf"`))
  expect(inAll).toBe(sum(series, new RegExp(`^${requests}_count`)))
  // No address and no id of a request becomes a label.
  expect([...series.keys()].join('\n')).not.toMatch(/987654321|secret|no\/such/)
  expect(JSON.parse(await app.logLine('"route":"/posts/:id"'))).toMatchObject({ method: 'GET' })
})

test('cache hits, mails, reports and the state of the node are scraped over HTTP', async () => {
  const { app, metricsPort, mailbox } = await meteredApp()
  const post = await app.publish(await app.signUp())
  await report(app, await app.signUp(), { postId: post.id })

  // Mails leave by themselves: both codes.
  const sent = /^vslukh_mails_total\{outcome="sent"/
  await expect.poll(async () => sum(await scrape(metricsPort), sent)).toBe(2)
  expect(mailbox.mails).toHaveLength(2)
  // The node caches once it receives the changes of others.
  const readAgain = async () => {
    await app.call('GET', '/posts')
    return sum(await scrape(metricsPort), /^vslukh_cache_hits_total/)
  }
  await expect.poll(readAgain).toBeGreaterThanOrEqual(3)
  const series = await scrape(metricsPort)
  const known = [
    ['database_up', 1],
    ['reports_open', 1],
    ['counter_differences', 0],
    ['mails_failing', 0],
    ['nodes', 1],
  ] as const
  for (const [name, value] of known) expect(series.get(`vslukh_${name}`)).toBe(value)
  const measured = 'disk_free_bytes disk_bytes database_connections database_query_seconds'
  for (const name of measured.split(' ')) {
    expect(series.get(`vslukh_${name}`)).toBeGreaterThan(0)
  }
  expect(Math.abs(series.get('vslukh_clock_skew_seconds') ?? 99)).toBeLessThan(1)
  expect([...series.keys()].some((key) => key.startsWith('nodejs_eventloop_lag_p99'))).toBe(true)
  expect(sum(series, /^vslukh_build_info\{version="\d/)).toBe(1)
  const url = `http://127.0.0.1:${metricsPort}`
  expect((await fetch(`${url}/metrics?name[]=up`)).status).toBe(200)
  expect((await fetch(url)).status).toBe(404)
})

test('refused codes and the networks that asked for them are counted, and so is that they slow others', async () => {
  const { app, metricsPort } = await meteredApp(
    { trustProxy: ['127.0.0.1'] },
    { refusal: { code: 550, words: '5.1.1 no such mailbox' } },
  )
  for (let n = 0; n < 20; n++) {
    await startAt(app, '/registrations', { email: `${n}@gone.example`, ip: `10.7.${n % 10}.1` })
  }
  const counted = async () => {
    const series = await scrape(metricsPort)
    const names = ['codes_refused', 'codes_refused_networks', 'new_address_mails_slowed']
    return names.map((name) => series.get(`vslukh_${name}`))
  }
  await expect.poll(counted).toEqual([20, 10, 1])
})

test('a foreign Host is refused, against DNS rebinding', async () => {
  const { metricsPort } = await meteredApp()
  const ask = async (host: string) => {
    const asked = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const answer = await sendRaw(`http://127.0.0.1:${metricsPort}`, asked)
    return [answer.slice(9, 12), answer.includes('vslukh_')]
  }
  for (const own of ['127.0.0.1', 'localhost', '[::1]:9464', '192.0.2.1', 'app:9464']) {
    expect([own, await ask(own)]).toEqual([own, ['200', true]])
  }
  for (const foreign of ['evil.example:9464', '127.0.0.1.evil.example', '::1@a.b']) {
    expect([foreign, await ask(foreign)]).toEqual([foreign, ['421', false]])
  }
})

test('the age of a backup is absent before the first one, and failures are shown where backups are made each night', async () => {
  const { app, metricsPort } = await meteredApp({ backupDir: '/nowhere' })
  const read = async () => {
    const series = await scrape(metricsPort)
    const value = (name: string) => series.get(`vslukh_backup_${name}`)
    return [value('age_seconds'), value('failed'), value('verification_failed')]
  }
  expect(await read()).toEqual([undefined, 0, 0])
  await storeBackupFailure(app.db, 'no room')
  await storeVerificationFailure(app.db, 'wrong')
  expect(await read()).toEqual([undefined, 1, 1])
  const createdAt = new Date(Date.now() - 60_000).toISOString()
  await storeBackup(app.db, { bytes: 1, createdAt })
  const [age, ...failures] = await read()
  expect(age).toBeGreaterThanOrEqual(60)
  expect(failures).toEqual([0, 1])
})

test('without the database it is down, and what is read from it is absent', async () => {
  const { app, metricsPort } = await meteredApp()
  expect((await scrape(metricsPort)).get('vslukh_mails_waiting')).toBe(0)
  await shutDatabase(app.databaseUrl)
  await expect.poll(async () => (await scrape(metricsPort)).get('vslukh_database_up')).toBe(0)
  expect((await scrape(metricsPort)).has('vslukh_mails_waiting')).toBe(false)
})
