import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { type Product, startProductForTest } from '../../e2e/testing/product.ts'
import type { Outcome } from '../../e2e/testing/recorded-calls.ts'
import { addJob } from '../../server/kernel/queue/queue.ts'
import { startAt } from '../../server/testing/calls/sign-in-calls.ts'
import { openDatabaseForTest } from '../../server/testing/database/database-for-test.ts'
import { lockWaits } from '../../server/testing/database/databases.ts'
import { openSocket } from '../../server/testing/http/raw-http.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { startUsedProduct, withEmbeddedDatabase } from './embedded-database.ts'

/** The time to exit when there is nothing to wait for. */
const QUICK_EXIT_MS = 5000

test.each([
  ['SIGTERM', 'on reused connections', false],
  ['SIGINT', 'on a new connection for each call', true],
  // A terminal was closed.
  ['SIGHUP', 'on reused connections', false],
] as const)(
  '%s under load %s: every response is whole, what was not answered was not done, exit code 0 within 10 s, and the database is stopped',
  async (signal, _how, freshConnections) => {
    const { product, acknowledged, use, expectNothingLost } = await startUsedProduct()
    // A first start without SMTP_URL.
    expect(product.lines).toContainEqual(expect.stringContaining('Создаём базу данных'))
    expect(await product.printed(/^ {2}(\d{6}) — /)).toMatch(/^\d{6}$/)
    const load = use({ freshConnections })
    await acknowledged.waitForMore(40)
    await expectGracefulExit(product, QUICK_EXIT_MS, signal)
    await load.stop()
    expect(product.lines).toContain('Остановлено.')
    expect(existsSync(join(product.dataDir, 'postgres/postmaster.pid'))).toBe(false)

    expect(new Set(load.outcomes.map(({ status }) => status)).has('cut')).toBe(false)
    expect(load.outcomes.filter(isStrange)).toEqual([])
    await product.start()
    await expectNothingLost()
    const posts = await withEmbeddedDatabase(product.dataDir, (db) =>
      db.selectFrom('posts').select('id').execute(),
    )
    expect(posts.filter(({ id }) => !acknowledged.posts.has(id))).toEqual([])
  },
)

test('SIGTERM: a request that waits for the database gets a whole response, and no new connection is accepted meanwhile', async () => {
  const { product, client } = await startProductForTest()
  const olga = await client.signUp()
  const { token } = olga
  const post = await client.publish(olga)
  await withEmbeddedDatabase(product.dataDir, async (db) => {
    const holder = await db.startTransaction().execute()
    await sql`SELECT FROM posts WHERE id = ${post.id} FOR UPDATE`.execute(holder)
    const waiting = [
      client.call('POST', `/posts/${post.id}/likes`, { token }),
      client.call('POST', `/posts/${post.id}/replies`, { token, body: { text: 'Успею' } }),
    ]
    await expect.poll(() => lockWaits({ db })).toBe(2)
    const exit = expectGracefulExit(product, QUICK_EXIT_MS)
    await refusesConnections(product)
    await holder.rollback().execute()
    const answers = await Promise.all(waiting)
    expect(answers.map(({ status }) => status)).toEqual([200, 201])
    expect(answers[0]?.body).toEqual({ likes_count: 1 })
    await exit
  })
})

test('SIGTERM while a client never ends its request: exit code 0 within 10 s', async () => {
  const { product } = await startProductForTest()
  const socket = await openSocket(product.url)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write('POST /api/v1/logins HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n')
  socket.write('Content-Type: application/json\r\nContent-Length: 9\r\n\r\n')
  // The server asks for the body: it is working on the request.
  await once(socket, 'data')
  await expectGracefulExit(product)
})

test('SIGTERM while the SMTP server hangs: exit code 0 within 10 s, and the mail comes after the next start', async () => {
  const mailbox = await mailboxForTest(0, { isHeld: true })
  const { product, client } = await startProductForTest({ env: { SMTP_URL: mailbox.url } })
  const email = 'olga@example.org'
  await startAt(client, '/registrations', { email })
  await mailbox.caught
  await expectGracefulExit(product)
  // The last lines of the log are not cut off.
  await product.printed(/(mail not sent, will retry)/)

  mailbox.letGo()
  await product.start()
  expect(await mailbox.codeFor(email)).toMatch(/^\d{6}$/)
})

test('SIGTERM while the server starts and the nightly check waits for a lock: exit code 0 within 10 s, and the job is released', async () => {
  const { db, url } = await openDatabaseForTest()
  const { product } = await startProductForTest({ env: { DATABASE_URL: url } })
  await product.stop()
  const held = await db.startTransaction().execute()
  // A start waits for the queue last, whose job waits for the counters.
  await sql`LOCK TABLE graphile_worker.migrations`.execute(held)
  await addJob(db, 'check-counters')
  const counters = await db.startTransaction().execute()
  await sql`LOCK TABLE wall_totals`.execute(counters)
  const starting = product.start().catch(() => {})
  await expect.poll(() => lockWaits({ db })).toBe(1)
  const exit = expectGracefulExit(product)
  await product.printed(/(Останавливаемся)/)
  await held.rollback().execute()
  await exit
  await starting
  const { rows } = await sql`SELECT locked_at FROM graphile_worker.jobs
    WHERE task_identifier = 'check-counters'`.execute(db)
  expect(rows).toEqual([{ locked_at: null }])
  await counters.rollback().execute()
})

async function expectGracefulExit(
  product: Product,
  withinMs = 10_000,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  const asked = performance.now()
  expect(await product.stop(signal)).toBe(0)
  expect(performance.now() - asked).toBeLessThan(withinMs)
}

/** Whether the contract forbids this answer to a stopping server. */
function isStrange({ status, body, retryAfter }: Outcome): boolean {
  if (status === 503) return body.code !== 'UNAVAILABLE' || !retryAfter
  return typeof status === 'number' && status >= 300
}

/** Resolves once the port accepts no connections; each one accepted before must be answered. */
async function refusesConnections({ url }: Product): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/livez`).catch(() => undefined)
    if (!answer) return
    expect([200, 503]).toContain(answer.status)
  }
}
