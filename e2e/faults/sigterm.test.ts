import { once } from 'node:events'
import { connect } from 'node:net'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { findCounterDifferences } from '../../server/posts/counters.task.ts'
import { addJob } from '../../server/queue/queue.ts'
import { DEVICE } from '../../server/testing/client.ts'
import { openCrowd } from '../../server/testing/crowd.ts'
import { openMailbox } from '../../server/testing/mailbox.ts'
import { openStuckSmtp } from '../../server/testing/smtp-faults.ts'
import { Ledger } from '../testing/ledger.ts'
import { startLoad } from '../testing/load.ts'
import type { Product } from '../testing/product.ts'
import type { Outcome } from '../testing/watched-calls.ts'
import { lookInside } from './embedded-database.ts'
import { countWaiting, holdPost } from './held-post.ts'
import { signUps, startedProduct } from './installed.ts'

const EXIT_MS = 10_000
/** Where nothing is left to wait for. */
const QUICK_EXIT_MS = 5000

test.each([
  ['on connections that are kept', false],
  ['on a connection each', true],
])(
  'SIGTERM under load %s: every answer is whole, what was not answered was not done, exit code 0 within 10 s',
  async (_how, freshConnections) => {
    const { product, client } = await startedProduct()
    const users = await signUps(client, 8)
    const ledger = new Ledger()
    const load = startLoad({ url: product.url, users, ledger, freshConnections })
    await ledger.grows(40)
    await expectGracefulExit(product, QUICK_EXIT_MS)
    await load.ended

    expect(new Set(load.outcomes.map(({ status }) => status)).has('cut')).toBe(false)
    expect(load.outcomes.filter(isStrange)).toEqual([])
    await product.start()
    await lookInside(product.dataDir, async (db) => {
      expect(await ledger.lostIn(db)).toEqual([])
      const rows = await db.selectFrom('posts').select('id').execute()
      expect(rows.filter(({ id }) => !ledger.posts.has(id))).toEqual([])
      expect(await findCounterDifferences(db)).toEqual([])
    })
  },
)

test('SIGTERM under load, twenty times: no kept connection is reset, and each run exits within 5 s', async () => {
  const { product, client } = await startedProduct()
  const [olga] = await signUps(client, 1)
  const calls = [
    'GET /api/v1/posts HTTP/1.1\r\n',
    `GET /api/v1/posts HTTP/1.1\r\nAuthorization: Bearer ${olga?.token}\r\n`,
    `GET /api/v1/sessions HTTP/1.1\r\nAuthorization: Bearer ${olga?.token}\r\n`,
    'GET / HTTP/1.1\r\n',
  ]
  for (let run = 1; run <= 20; run++) {
    let turn = 0
    const request = () => `${calls[turn++ % calls.length]}Host: x\r\n\r\n`
    const crowd = openCrowd({ url: product.url, connections: 40, request })
    await expect.poll(() => crowd.result.times.length).toBeGreaterThan(500)
    await expectGracefulExit(product, QUICK_EXIT_MS)
    const { statuses, lost } = await crowd.stop()
    expect({ run, lost, statuses: [...statuses.keys()] }).toEqual({ run, lost: 0, statuses: [200] })
    await product.start()
  }
}, 240_000)

test('SIGTERM: a request that waits for the database is answered in whole, and nobody new is let in meanwhile', async () => {
  const { product, client } = await startedProduct()
  const olga = await client.signUp()
  const { token } = olga
  const post = await client.publish(olga)
  const exited = await lookInside(product.dataDir, async (db) => {
    const held = await holdPost(db, post.id)
    const waiting = [
      client.call('POST', `/posts/${post.id}/likes`, { token }),
      client.call('POST', `/posts/${post.id}/replies`, { token, body: { text: 'Успею' } }),
    ]
    await held.isWaitedFor(2)
    const exit = expectGracefulExit(product, QUICK_EXIT_MS)
    await refusesConnections(product)
    await held.release()
    const answers = await Promise.all(waiting)
    expect(answers.map(({ status }) => status)).toEqual([200, 201])
    expect(answers[0]?.body).toEqual({ likes_count: 1 })
    return { exit }
  })
  await exited.exit
})

test('SIGTERM while a client never ends its request: exit code 0 within 10 s', async () => {
  const { product } = await startedProduct()
  const { hostname, port } = new URL(product.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write('POST /api/v1/logins HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n')
  socket.write('Content-Type: application/json\r\nContent-Length: 9\r\n\r\n')
  // The server asks for the body: the request is at work.
  await once(socket, 'data')
  await expectGracefulExit(product)
})

test('SIGTERM while the SMTP server hangs: exit code 0 within 10 s, and the mail comes after the next start', async () => {
  const mailbox = await openMailbox()
  onTestFinished(() => mailbox.close())
  const stuck = await openStuckSmtp(Number(new URL(mailbox.url).port))
  onTestFinished(() => stuck.close())
  const { product, client } = await startedProduct({ SMTP_URL: stuck.url })
  const email = 'olga@example.org'
  await client.call('POST', '/registrations', {
    body: { email, clientToken: 'one browser', device: DEVICE },
  })
  await stuck.caught
  await expectGracefulExit(product)
  // The last lines of the log are not cut off.
  await product.printed(/(mail not sent, will retry)/)

  stuck.letGo()
  await product.start()
  expect(await mailbox.codeFor(email)).toMatch(/^\d{6}$/)
})

test('SIGTERM while the nightly check waits for a lock: exit code 0 within 10 s', async () => {
  const { product } = await startedProduct()
  let exit: Promise<void> | undefined
  const locked = lookInside(product.dataDir, (db) =>
    db.transaction().execute(async (tx) => {
      await sql`LOCK TABLE wall_totals`.execute(tx)
      await addJob(db, 'check-counters', { payload: {} })
      await expect.poll(() => countWaiting(db)).toBe(1)
      exit = expectGracefulExit(product)
      await exit
    }),
  )
  // The database goes last, under the lock that was held until then.
  await expect(locked).rejects.toThrow()
  expect(exit).toBeDefined()
  await exit
})

async function expectGracefulExit(product: Product, withinMs = EXIT_MS): Promise<void> {
  const asked = performance.now()
  expect(await product.stop('SIGTERM')).toBe(0)
  expect(performance.now() - asked).toBeLessThan(withinMs)
}

/** An answer that the contract does not know of a server that is about to end. */
function isStrange({ status, body, retryAfter }: Outcome): boolean {
  if (status === 503) return body.code !== 'UNAVAILABLE' || !retryAfter
  return typeof status === 'number' && status >= 300
}

/** Resolves once the port takes no connections; a connection it still takes is answered. */
async function refusesConnections({ url }: Product): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/livez`).catch(() => undefined)
    if (!answer) return
    expect([200, 503]).toContain(answer.status)
  }
}
