import { expect, test } from 'vitest'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import { countCodes, readMailState, startAt, verifyAt } from '../../testing/calls/sign-in-calls.ts'
import {
  passCodeTime,
  passMailLimitTime,
  passRequestTime,
  retryMails,
} from '../../testing/database/passing-time.ts'
import { browserOf } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { mailAppForFile, mailAppForTest, type TestApp } from '../../testing/test-app.ts'

const EMAIL = 'olga@example.org'
const MINUTE = 60
const GREYLISTED = { code: 451, words: '4.7.1 Greylisted' }

const start = async (app: TestApp): Promise<string> =>
  (await startAt(app, '/registrations', { email: EMAIL })).body.id

/** Waits until an operation's mail has a state. Returns how many minutes the operation has left. */
async function minutesLeft(app: TestApp, id: string, state: string): Promise<number> {
  await expect.poll(async () => (await readMailState(app, id)).body.state).toBe(state)
  return ((await readMailState(app, id)).body.expiresAt - Date.now() / 1000) / MINUTE
}

test('a mail is queued, then sent; only the client that started its operation can read that, until the operation expires', async () => {
  const { app, mailbox } = await mailAppForTest({}, { isHeld: true })
  const id = await start(app)
  await mailbox.caught
  expect((await readMailState(app, id)).body.state).toBe('queued')
  mailbox.letGo()
  await minutesLeft(app, id, 'sent')
  expectRefusal(await readMailState(app, id, 'another browser'), 'OPERATION_EXPIRED')
  expectRefusal(await readMailState(app, 'nobody-started-this'), 'OPERATION_EXPIRED')
  await passCodeTime(app, 601)
  expectRefusal(await readMailState(app, id), 'OPERATION_EXPIRED')
})

test('a mail to an address that does not exist is refused; a new start queues it again', async () => {
  const refusal = { code: 550, words: '5.1.1 unknown' }
  const { app, mailbox } = await mailAppForTest({}, { refusal })
  const id = await start(app)
  await minutesLeft(app, id, 'refused')
  await passCodeTime(app, 61)
  await start(app)
  await expect.poll(() => mailbox.counts.refusals).toBe(2)
  await minutesLeft(app, id, 'refused')
})

test('the ten minutes of a code begin when its mail is accepted, however long that took', async () => {
  const { app, mailbox } = await mailAppForTest({}, { refusal: GREYLISTED })
  const id = await start(app)
  expect(await minutesLeft(app, id, 'retrying')).toBeGreaterThan(19)
  await passRequestTime(app, 8 * MINUTE)
  mailbox.accept()
  await retryMails(app)
  const code = await mailbox.codeFor(EMAIL)
  const left = await minutesLeft(app, id, 'sent')
  expect(left).toBeGreaterThan(9)
  expect(left).toBeLessThanOrEqual(10.1)
  await passRequestTime(app, 9 * MINUTE)
  expect((await verifyAt(app, '/registrations', { id, code })).status).toBe(200)
})

test('a code lives for 20 minutes from its request at most; while its mail waits, no other is queued or charged', async () => {
  const { app, mailbox } = await mailAppForTest({ rateLimitScale: 1 }, { refusal: GREYLISTED })
  const id = await start(app)
  await minutesLeft(app, id, 'retrying')
  for (let time = 0; time < 6; time++) {
    await passMailLimitTime(app, 2.5 * MINUTE)
    expect(await start(app)).toBe(id)
    expect((await readMailState(app, id)).body.state).toBe('retrying')
  }

  mailbox.accept()
  await retryMails(app)
  await mailbox.codeFor(EMAIL)
  expect(await minutesLeft(app, id, 'sent')).toBeLessThanOrEqual(5.1)
  await startAt(app, '/registrations', { email: 'last@example.org' })
  await mailbox.codeFor('last@example.org')
  expect(mailbox.mails.map(({ to }) => to)).toEqual([EMAIL, 'last@example.org'])
  await passRequestTime(app, 6 * MINUTE)
  expectRefusal(await readMailState(app, id), 'OPERATION_EXPIRED')
})

const { app, mailbox } = await mailAppForFile({ rateLimitScale: 1, trustProxy: ['127.0.0.1'] })

const browser = browserOf(await startAt(app, '/registrations', { email: newEmail() }))

let asked = 0
/** Asks from one browser, each time from another address. */
const ask = (email: string) =>
  startAt(app, '/registrations', { email, ip: `192.0.2.${asked++}`, browser })

/**
 * All mails to an address so far. It waits for a mail that is requested now, because mails are sent
 * in order.
 */
async function mailsTo(address: string) {
  const last = newEmail()
  await ask(last)
  await mailbox.mailTo(last)
  return mailbox.mailsTo(address)
}

test('a repeated start, in any case, returns the same id, sends one mail a minute with the same code, and does not prolong the operation', async () => {
  const email = newEmail()
  const other = email.toUpperCase()
  const first = await ask(email)
  await mailbox.mailTo(email)

  await passMailLimitTime(app, 55)
  for (const soon of [await ask(email), await ask(other)]) {
    expect([soon.status, soon.body]).toEqual([201, first.body])
  }
  expect(await mailsTo(email)).toHaveLength(1)

  await passMailLimitTime(app, 6)
  expect((await ask(email)).body).toEqual(first.body)
  await mailbox.mailTo(email, 2)
  const mails = await mailsTo(email)
  expect(mails).toHaveLength(2)
  expect(new Set(mails.map(({ subject }) => subject)).size).toBe(1)
  expect(mailbox.mailsTo(other)).toEqual([])
  await passMailLimitTime(app, 540)
  expect((await ask(email)).body.id).not.toBe(first.body.id)
})

test('20 concurrent starts return one id and send one mail', async () => {
  const email = newEmail()
  const starts = await Promise.all(Array.from({ length: 20 }, () => ask(email)))
  expect(countCodes(starts)).toEqual({ ok: 20 })
  expect(new Set(starts.map(({ body }) => body.id)).size).toBe(1)
  await mailbox.mailTo(email)
  expect(await mailsTo(email)).toHaveLength(1)
})
