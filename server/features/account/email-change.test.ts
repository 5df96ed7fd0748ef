import { expect, test } from 'vitest'
import { newEmail } from '../../testing/account-fixture.ts'
import { startChange, storedEmail, verifyChange } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { countCodes, startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { mailAppForFile } from '../../testing/test-app.ts'

const { app, mailbox } = await mailAppForFile()

test('an e-mail is changed with the code mailed to the new address; the old one gets a notice, and no longer signs in', async () => {
  const olga = await app.signUp()
  await mailbox.mailTo(olga.email)
  const email = newEmail()
  const { status, body } = await startChange(app, olga, email)
  expect([status, body]).toEqual([201, { id: expect.any(String) }])
  expect((await mailbox.mailTo(email)).subject).toContain('код для смены почты')
  expect(await mailbox.codeFor(email)).toBe(app.codeFor(body.id))
  expect(await storedEmail(app, olga)).toBe(olga.email)

  const verified = await verifyChange(app, olga, body.id)
  expect([verified.status, verified.body]).toEqual([200, { email }])
  const current = await app.call('GET', '/users/current', { token: olga.token })
  expect(current.body.email).toBe(email)
  const notice = await mailbox.mailTo(olga.email, 2)
  expect(notice.subject).toBe('Почта аккаунта изменена · Вслух')
  expect(notice.text).toContain(olga.username)
  expect(notice.text).not.toContain(email)
  expectRefusal(await startAt(app, '/logins', { email: olga.email }), 'USER_NOT_FOUND')
  const { id } = (await startAt(app, '/logins', { email })).body
  expect((await verifyAt(app, '/logins', { id })).status).toBe(200)
})

test('a taken address, in any case, is EMAIL_ALREADY_EXISTS at the start', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  for (const taken of [petr.email, petr.email.toUpperCase(), olga.email]) {
    expectRefusal(await startChange(app, olga, taken), 'EMAIL_ALREADY_EXISTS')
  }
})

test('one of two users who race for an address gets it, the other EMAIL_ALREADY_EXISTS', async () => {
  const users = [await app.signUp(), await app.signUp()]
  const email = newEmail()
  const ids: string[] = []
  for (const user of users) ids.push((await startChange(app, user, email)).body.id)
  const answers = await Promise.all(users.map((user, n) => verifyChange(app, user, ids[n] ?? '')))
  expect(countCodes(answers)).toEqual({ ok: 1, EMAIL_ALREADY_EXISTS: 1 })
  for (const [n, user] of users.entries()) {
    const isWinner = answers[n]?.status === 200
    expect(await storedEmail(app, user)).toBe(isWinner ? email : user.email)
    await mailbox.mailTo(user.email, isWinner ? 2 : 1)
    if (!isWinner) expect(mailbox.mailsTo(user.email)).toHaveLength(1)
  }
})

test('a code is accepted only from the user who requested the change', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const { id } = (await startChange(app, olga, newEmail())).body
  const asOlgasClient = { ...petr, clientToken: olga.clientToken }
  expectRefusal(await verifyChange(app, asOlgasClient, id), 'OPERATION_EXPIRED')
  expect(await storedEmail(app, petr)).toBe(petr.email)
})
