import { expect, test } from 'vitest'
import { newEmail } from '../../testing/account-fixture.ts'
import { freePort } from '../../testing/free-port.ts'
import { passMailLimitTime } from '../../testing/passing-time.ts'
import { askMail, countCodes, startAt } from '../../testing/sign-in-calls.ts'
import { appForTest, mailAppForFile } from '../../testing/test-app.ts'

const { app, mailbox } = await mailAppForFile({ rateLimitScale: 1, trustProxy: ['127.0.0.1'] })

let asked = 0
const start = (email: string) => startAt(app, '/registrations', { email, ip: `192.0.2.${asked++}` })

/**
 * All mails to an address so far. It waits for a mail that is requested now, because mails are sent
 * in order.
 */
async function mailsTo(address: string) {
  const last = newEmail()
  await start(last)
  await mailbox.mailTo(last)
  return mailbox.mailsTo(address)
}

test('a repeated start, in any case, returns the same id, sends one mail a minute with the same code, and does not prolong the operation', async () => {
  const email = newEmail()
  const other = email.toUpperCase()
  const first = await start(email)
  await mailbox.mailTo(email)

  await passMailLimitTime(app, 55)
  for (const soon of [await start(email), await start(other)]) {
    expect([soon.status, soon.body]).toEqual([201, first.body])
  }
  expect(await mailsTo(email)).toHaveLength(1)

  await passMailLimitTime(app, 6)
  expect((await start(email)).body).toEqual(first.body)
  await mailbox.mailTo(email, 2)
  const mails = await mailsTo(email)
  expect(mails).toHaveLength(2)
  expect(new Set(mails.map(({ subject }) => subject)).size).toBe(1)
  expect(mailbox.mailsTo(other)).toEqual([])
  await passMailLimitTime(app, 540)
  expect((await start(email)).body.id).not.toBe(first.body.id)
})

test('while a mail waits no other is queued or charged, and its state stays', async () => {
  const smtpUrl = `smtp://127.0.0.1:${await freePort()}`
  const app = await appForTest({ config: { smtpUrl, rateLimitScale: 1 } })
  const email = newEmail()
  const first = await startAt(app, '/registrations', { email })
  for (let minute = 0; minute < 6; minute++) {
    await passMailLimitTime(app, 61)
    const next = await startAt(app, '/registrations', { email })
    expect([next.status, next.body]).toEqual([201, first.body])
    expect((await askMail(app, first.body.id)).body.state).toBe('retrying')
  }
})

test('20 concurrent starts return one id and send one mail', async () => {
  const email = newEmail()
  const starts = await Promise.all(Array.from({ length: 20 }, () => start(email)))
  expect(countCodes(starts)).toEqual({ ok: 20 })
  expect(new Set(starts.map(({ body }) => body.id)).size).toBe(1)
  await mailbox.mailTo(email)
  expect(await mailsTo(email)).toHaveLength(1)
})
