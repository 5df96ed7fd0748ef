import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { signUpUsers, startProductForTest } from '../../e2e/testing/product.ts'
import type { Db } from '../../server/kernel/db/database.ts'
import { addJob } from '../../server/kernel/queue/queue.ts'
import { shiftedClock } from '../../server/testing/database/shifted-clock.ts'
import { DEVICE } from '../../server/testing/http/client.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { withEmbeddedDatabase } from './embedded-database.ts'

const HOUR = 3600
const DAY = 24 * HOUR

/** Starts the product and its database on a clock that the test shifts, with the real limits. */
async function productOnShiftedClock() {
  const clock = await shiftedClock()
  const mailbox = await mailboxForTest()
  const settings = { RATE_LIMIT_SCALE: '1', ACCESS_TOKEN_SECONDS: '86400', SMTP_URL: mailbox.url }
  const started = await startProductForTest({ env: { ...clock.env, ...settings } })
  return { ...started, shift: clock.shift, mailbox }
}

test('the clock an hour ahead and back: publishing, mails and counts go on at once', async () => {
  const { product, client, shift, mailbox } = await productOnShiftedClock()
  const olga = await client.signUp()
  const petr = await client.signUp()
  // Newcomers publish once a minute.
  await withEmbeddedDatabase(product.dataDir, (db) =>
    sql`UPDATE users SET created_at = created_at - interval '2 days'`.execute(db),
  )
  const publish = () =>
    client.call('POST', '/posts', { token: olga.token, body: { text: 'В этот час' } })
  const mails = async (email: string) => {
    const body = { email, clientToken: 'x', device: DEVICE }
    expect((await client.call('POST', '/registrations', { body })).status).toBe(201)
    return mailbox.codeFor(email)
  }
  const { id } = await client.publish(olga)

  await shift(HOUR)
  for (let more = 0; more < 4; more++) expect((await publish()).status).toBe(201)
  expect(await mails('vera@example.org')).toMatch(/^\d{6}$/)
  expect((await client.call('GET', `/posts/${id}`)).body.actions.likes_count).toBe(0)

  await shift(0)
  const like = await client.call('POST', `/posts/${id}/likes`, { token: petr.token })
  expect(like.status).toBe(200)
  await expect
    .poll(async () => (await client.call('GET', `/posts/${id}`)).body.actions.likes_count)
    .toBe(1)
  await expect.poll(async () => (await publish()).status).toBe(201)
  expect(await mails('nina@example.org')).toMatch(/^\d{6}$/)
})

test('the clock 100 days ahead for a minute: nobody is signed out or erased for good, and scheduled tasks go on', {
  timeout: 450_000,
}, async () => {
  const { product, client, shift, mailbox } = await productOnShiftedClock()
  const users = await signUpUsers(client, 3)
  const olga = await client.signUp()
  const { token, clientToken } = olga
  const deletion = '/users/current/deletion'
  const { id } = (await client.call('POST', deletion, { token, body: { clientToken } })).body
  // The code of the registration may come later, because new addresses get one mail at a time.
  const { subject } = await mailbox.mailAbout(olga.email, /для удаления/)
  const body = { clientToken, confirmCode: subject.slice(0, 6) }
  expect((await client.call('POST', `${deletion}/${id}/verify`, { token, body })).status).toBe(200)
  await withEmbeddedDatabase(product.dataDir, jobsRecur)

  await shift(100 * DAY)
  await withEmbeddedDatabase(product.dataDir, async (db) => {
    await addJob(db, 'remove-expired', { payload: {} })
    await addJob(db, 'move-accounts', { payload: {} })
  })
  await product.printed(/"level":"error".*(the clock has jumped)/)
  await withEmbeddedDatabase(product.dataDir, jobsRecur)

  await shift(0)
  const refreshed = await Promise.all(
    users.map(({ cookie, clientToken }) =>
      client.call('PATCH', '/sessions/current', { body: { clientToken }, headers: { cookie } }),
    ),
  )
  expect(refreshed.map(({ status }) => status)).toEqual([200, 200, 200])
  await withEmbeddedDatabase(product.dataDir, async (db) => {
    await jobsRecur(db)
    const names = db.selectFrom('users').select('username').where('id', '=', olga.id)
    expect(await names.execute()).toEqual([{ username: olga.username }])
  })
})

/** Resolves once the jobs of a minute after this moment were queued, by the database's clock. */
async function jobsRecur(db: Db): Promise<void> {
  const { rows: asked } = await sql<{ since: Date }>`SELECT now() AS since`.execute(db)
  const since = asked[0]?.since
  const haveRecurred = async () => {
    const { rows } = await sql<{ isNew: boolean }>`
      SELECT period * 60 BETWEEN extract(epoch FROM ${since}::timestamptz) AND extract(epoch FROM now()) AS "isNew"
      FROM recurring_jobs WHERE task = 'send-mails'`.execute(db)
    return rows[0]?.isNew
  }
  await expect.poll(haveRecurred, { timeout: 200_000, interval: 500 }).toBe(true)
}
