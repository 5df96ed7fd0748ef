import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { freePort } from '../../testing/free-port.ts'
import type { Mailbox } from '../../testing/mailbox.ts'
import { passCodeTime, passLimitTime } from '../../testing/passing-time.ts'
import { countCodes, startAt } from '../../testing/sign-in-calls.ts'
import type { TestApp } from '../../testing/test-app.ts'
import { appForTest, mailAppForTest } from '../../testing/test-app.ts'

const EMAIL = 'olga@example.org'

/**
 * All mails to an address so far. It waits for a mail that is requested now, because mails are sent
 * in order.
 */
async function mailsTo(address: string, app: TestApp, mailbox: Mailbox) {
  const last = `last-${mailbox.mails.length}@example.org`
  await startAt(app, '/registrations', { email: last })
  await mailbox.mailTo(last)
  return mailbox.mails.filter(({ to }) => to === address)
}

test('a repeated start returns the same id, and sends one mail a minute with the same code', async () => {
  const { app, mailbox } = await mailAppForTest()
  const first = await startAt(app, '/registrations', { email: EMAIL })
  await mailbox.mailTo(EMAIL)

  await passCodeTime(app, 55)
  const soon = await startAt(app, '/registrations', { email: EMAIL })
  expect([soon.status, soon.body]).toEqual([201, first.body])
  expect(await mailsTo(EMAIL, app, mailbox)).toHaveLength(1)

  await passCodeTime(app, 6)
  const later = await startAt(app, '/registrations', { email: EMAIL })
  expect(later.body).toEqual(first.body)
  await mailbox.mailTo(EMAIL, 2)
  const subjects = mailbox.mails.filter(({ to }) => to === EMAIL).map(({ subject }) => subject)
  expect(subjects).toHaveLength(2)
  expect(new Set(subjects).size).toBe(1)
})

test('while a mail waits no other is queued or charged, and its state stays', async () => {
  const smtpUrl = `smtp://127.0.0.1:${await freePort()}`
  const app = await appForTest({ config: { smtpUrl, rateLimitScale: 1 } })
  const first = await startAt(app, '/registrations', { email: EMAIL })
  for (let minute = 0; minute < 8; minute++) {
    await passCodeTime(app, 61)
    await passLimitTime(app, 61)
    const next = await startAt(app, '/registrations', { email: EMAIL })
    expect([next.status, next.body]).toEqual([201, first.body])
    const asked = { body: { clientToken: 'one browser' } }
    const { body } = await app.call('POST', `/codes/${first.body.id}/mail`, asked)
    expect(body.state).toBe('retrying')
  }
})

test('20 concurrent starts return one id and send one mail', async () => {
  const { app, mailbox } = await mailAppForTest()
  const starts = await Promise.all(
    Array.from({ length: 20 }, () => startAt(app, '/registrations', { email: EMAIL })),
  )
  expect(countCodes(starts)).toEqual({ ok: 20 })
  expect(new Set(starts.map(({ body }) => body.id)).size).toBe(1)
  await mailbox.mailTo(EMAIL)
  expect(await mailsTo(EMAIL, app, mailbox)).toHaveLength(1)
})

test('a start whose mail could not be queued is refused, and the next one sends it', async () => {
  const { app, mailbox } = await mailAppForTest({ rateLimitScale: 1000 })
  const rename = (from: string, to: string) =>
    sql`ALTER TABLE ${sql.ref(from)} RENAME TO ${sql.ref(to)}`.execute(app.db)
  await rename('outbox', 'away')
  expect((await startAt(app, '/registrations', { email: EMAIL })).status).toBe(500)
  await rename('away', 'outbox')
  expect((await startAt(app, '/registrations', { email: EMAIL })).status).toBe(201)
  await mailbox.mailTo(EMAIL)
})

test('an e-mail in another case is the same e-mail: it gets the same id and no second mail', async () => {
  const { app, mailbox } = await mailAppForTest()
  const first = await startAt(app, '/registrations', { email: EMAIL })
  const second = await startAt(app, '/registrations', { email: 'OLGA@Example.org' })
  expect(second.body).toEqual(first.body)
  expect(await mailsTo('OLGA@Example.org', app, mailbox)).toHaveLength(0)
})

test('the repeated start does not prolong the operation', async () => {
  const { app } = await mailAppForTest()
  const first = await startAt(app, '/registrations', { email: EMAIL })
  await passCodeTime(app, 300)
  await passLimitTime(app, 300)
  await startAt(app, '/registrations', { email: EMAIL })
  await passCodeTime(app, 301)
  const next = await startAt(app, '/registrations', { email: EMAIL })
  expect(next.body.id).not.toBe(first.body.id)
})
