import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { inject, test } from 'vitest'
import { findCounterDifferences } from '../../server/features/posts/counters.task.ts'
import { startAt, verifyAt } from '../../server/testing/calls/sign-in-calls.ts'
import { freshDatabase } from '../../server/testing/database/databases.ts'
import { openPostgresProxy } from '../../server/testing/database/postgres-proxy.ts'
import { atOnce } from '../../server/testing/http/at-once.ts'
import type { TestAnswer, TestUser } from '../../server/testing/http/client.ts'
import { startTestApp, type TestApp } from '../../server/testing/test-app.ts'

/** Half the usual timeout: with the time to cancel it, a statement fails after 2 s. */
const poolLimits = { statementTimeoutMs: 1500 }
/** Two such timeouts in a row would take 4 s; one leaves time for a busy machine. */
const REFUSED_MS = 3800
const SOON = { timeout: 10_000 }

type Call = () => Promise<TestAnswer>
/** Makes what a call needs and returns the call, which succeeds once. */
type Prepare = (app: TestApp, user: TestUser) => Promise<Call>

const CALLS: Record<string, Prepare> = {
  'a sign-in': async (app) => {
    const email = `${randomUUID()}@example.org`
    const { id } = (await startAt(app, '/registrations', { email })).body
    return () => verifyAt(app, '/registrations', { id, code: app.codeFor(id) })
  },
  'a reply': async ({ call, publish }, user) => {
    const { id } = await publish(user)
    const headers = { 'idempotency-key': randomUUID() }
    const reply = { token: user.token, headers, body: { text: 'В мороз' } }
    return () => call('POST', `/posts/${id}/replies`, reply)
  },
  'a deletion': async ({ call, publish }, user) => {
    const { id } = await publish(user)
    await call('POST', `/posts/${id}/likes`, { token: user.token })
    return () => call('DELETE', `/posts/${id}`, { token: user.token })
  },
  'a refresh': async ({ call }, { cookie, clientToken }) => {
    return () => call('PATCH', '/sessions/current', { headers: { cookie }, body: { clientToken } })
  },
}

/** There are no other nodes, because publishing changes to them would take another statement. */
async function appBehindProxy(running: AsyncDisposableStack) {
  const database = await freshDatabase(inject('databaseUrl'))
  running.defer(() => database.drop())
  const proxy = await openPostgresProxy(database.url)
  running.defer(() => proxy.close())
  const config = { databaseUrl: undefined, accessTokenSeconds: 3600 }
  const app = await startTestApp({
    databaseUrl: proxy.url,
    config,
    keepsTimeLimits: true,
    poolLimits,
  })
  running.defer(() => app.close())
  running.defer(() => proxy.thaw())
  return { app, proxy, user: await app.signUp() }
}

test.concurrent.for(Object.entries(CALLS))(
  'the database frozen at any statement of %s: 503 within the timeout of one statement, and served again once it is back',
  { timeout: 120_000 },
  async ([, prepare], { expect }) => {
    await using running = new AsyncDisposableStack()
    const { app, proxy, user } = await appBehindProxy(running)
    const success = (await (await prepare(app, user))()).status
    expect(success).toBeLessThan(300)

    for (let n = 1; ; n++) {
      const call = await prepare(app, user)
      proxy.freezeAt(n)
      const began = performance.now()
      const { status } = await call()
      const ms = performance.now() - began
      proxy.thaw()
      if (status === success) {
        // The call has fewer than n statements.
        expect(n).toBeGreaterThan(2)
        break
      }
      expect({ n, status }).toEqual({ n, status: 503 })
      expect(ms, `at statement ${n}`).toBeLessThan(REFUSED_MS)
      await expect.poll(async () => (await (await prepare(app, user))()).status, SOON).toBe(success)
    }
    expect(await findCounterDifferences(app.db)).toEqual([])
  },
)

/** When later calls come, in milliseconds after the first call: all before that fails. */
const LATER = [100, 400, 800, 1400, 1900]

test.concurrent('calls that arrive while others wait for a frozen database are refused within the timeout of one statement too', {
  timeout: 60_000,
}, async ({ expect }) => {
  await using running = new AsyncDisposableStack()
  const { app, proxy, user } = await appBehindProxy(running)
  const { token } = user
  const { id } = await app.publish(user)
  // Leaves idle connections for the next calls.
  await atOnce(Array.from({ length: 32 }, () => () => app.read('/sessions', user)))
  async function timed(method: string, path: string) {
    const began = performance.now()
    const { status } = await app.call(method, path, { token })
    return { status, ms: performance.now() - began }
  }

  const frozen = proxy.freezeAt(1)
  const first = timed('GET', '/sessions')
  await frozen
  const others = LATER.flatMap((ms) => [
    delay(ms).then(() => timed('GET', '/posts?filter=liked')),
    delay(ms).then(() => timed('POST', `/posts/${id}/likes`)),
  ])
  for (const { status, ms } of await Promise.all([first, ...others])) {
    expect(status).toBe(503)
    expect(ms).toBeLessThan(REFUSED_MS)
  }
  proxy.thaw()
  await expect.poll(async () => (await timed('POST', `/posts/${id}/likes`)).status, SOON).toBe(200)
})
