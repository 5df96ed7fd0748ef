import { afterAll, expect, test } from 'vitest'
import { newEmail } from '../../testing/account-fixture.ts'
import type { TestUser } from '../../testing/client.ts'
import { startChange, verifyChange } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { countCodes, startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { startMailApp } from '../../testing/test-app.ts'

const { app, mailbox } = await startMailApp()
afterAll(() => app.close())

const start = (user: TestUser, email: string) => startChange(app, user, email)
const verify = (user: TestUser, id: string) => verifyChange(app, user, id)

async function emailOf({ token }: TestUser): Promise<string> {
  return (await app.call('GET', '/users/current', { token })).body.email
}

test('an e-mail is changed with the code mailed to the new address; the old one gets a notice, and no longer signs in', async () => {
  const olga = await app.signUp()
  await mailbox.mailTo(olga.email)
  const email = newEmail()
  const { status, body } = await start(olga, email)
  expect([status, body]).toEqual([201, { id: expect.any(String) }])
  expect((await mailbox.mailTo(email)).subject).toContain('код для смены почты')
  expect(await mailbox.codeFor(email)).toBe(app.codeFor(body.id))
  expect(await emailOf(olga)).toBe(olga.email)

  const verified = await verify(olga, body.id)
  expect([verified.status, verified.body]).toEqual([200, { email }])
  expect(await emailOf(olga)).toBe(email)
  const notice = await mailbox.mailTo(olga.email, 2)
  expect(notice.subject).toBe('Почта аккаунта изменена · Вслух')
  expect(notice.text).toContain(olga.username)
  expect(notice.text).not.toContain(email)
  expectRefusal(await startAt(app, '/logins', { email: olga.email }), 'USER_NOT_FOUND')
  const { id } = (await startAt(app, '/logins', { email })).body
  expect((await verifyAt(app, '/logins', { id })).status).toBe(200)
})

test('a taken address, in any case, is EMAIL_ALREADY_EXISTS at the start', async () => {
  const olga = await app.signUp()
  const petr = await app.signUp()
  expectRefusal(await start(olga, petr.email), 'EMAIL_ALREADY_EXISTS')
  expectRefusal(await start(olga, petr.email.toUpperCase()), 'EMAIL_ALREADY_EXISTS')
  expectRefusal(await start(olga, olga.email), 'EMAIL_ALREADY_EXISTS')
})

test('one of two users who race for an address gets it, the other EMAIL_ALREADY_EXISTS', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const email = newEmail()
  const [olgas, petrs] = [(await start(olga, email)).body.id, (await start(petr, email)).body.id]
  const answers = await Promise.all([verify(olga, olgas), verify(petr, petrs)])
  expect(countCodes(answers)).toEqual({ ok: 1, EMAIL_ALREADY_EXISTS: 1 })
  const winner = answers[0]?.status === 200 ? olga : petr
  const loser = winner === olga ? petr : olga
  expect(await emailOf(winner)).toBe(email)
  expect(await emailOf(loser)).toBe(loser.email)
  await mailbox.mailTo(winner.email, 2)
  await mailbox.mailTo(loser.email)
  expect(mailbox.mails.filter(({ to }) => to === loser.email)).toHaveLength(1)
})

test('a code is accepted only from the user who requested the change', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const { id } = (await start(olga, newEmail())).body
  const asOlgasClient = { ...petr, clientToken: olga.clientToken }
  expectRefusal(await verify(asOlgasClient, id), 'OPERATION_EXPIRED')
  expect(await emailOf(petr)).toBe(petr.email)
})
