import { expect, test } from 'vitest'
import type { ErrorCode } from '../../../contract/errors.ts'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import { startChange } from '../../testing/calls/email-change-calls.ts'
import { startAt, verifyAt } from '../../testing/calls/sign-in-calls.ts'
import { passCodeTime } from '../../testing/database/passing-time.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { mailAppForFile, mailAppForTest } from '../../testing/test-app.ts'

const { app, mailbox } = await mailAppForFile()

/** Two addresses that are equal by Unicode case, the second of which begins with KELVIN SIGN. */
function equalEmails(): [email: string, equal: string] {
  const rest = newEmail()
  return [`k${rest}`, `\u212a${rest}`]
}

test('another spelling of an e-mail signs in to the same account; another +tag is another account', async () => {
  const olga = await app.signIn('Ольга@ПОЧТА.рф.')
  expect(olga.email).toBe('Ольга@почта.рф')
  expect((await app.signIn('ольга@xn--80a1acny.xn--p1ai')).id).toBe(olga.id)
  expect((await startAt(app, '/logins', { email: 'ОЛЬГА@ПОЧТА.рф' })).status).toBe(201)
  const tagged = await app.signIn('ольга+wall@почта.рф')
  expect(tagged.id).not.toBe(olga.id)
  expect(tagged.email).toBe('ольга+wall@почта.рф')
})

test.each(['/logins', '/registrations'] as const)(
  'a code requested at %s with an e-mail that is only equal by Unicode case goes to the account’s own address',
  async (path) => {
    const [email, equal] = equalEmails()
    const { id } = await app.signIn(email)
    await mailbox.mailTo(email)

    const { body } = await startAt(app, path, { email: equal })
    const code = await mailbox.codeFor(email, 2)
    expect(code).toBe(app.codeFor(body.id))
    expect(mailbox.mailsTo(equal)).toEqual([])
    const { token } = (await verifyAt(app, path, { id: body.id, code })).body.accessToken
    const account = await app.call('GET', '/users/current', { token })
    expect(account.body).toMatchObject({ id, email })
  },
)

test('a code mailed to an equal e-mail before the account was created does not sign in to it, also after a repeated start', async () => {
  const [email, equal] = equalEmails()
  const { id } = (await startAt(app, '/registrations', { email: equal })).body
  await mailbox.mailTo(equal)
  await app.signIn(email)
  const refusal = await verifyAt(app, '/registrations', { id })
  expectRefusal(refusal, 'OPERATION_EXPIRED')
  expect(refusal.cookie).toBeUndefined()

  await passCodeTime(app, 61)
  await startAt(app, '/registrations', { email })
  await mailbox.mailTo(equal, 2)
  expectRefusal(await verifyAt(app, '/registrations', { id }), 'OPERATION_EXPIRED')
})

// contract/email.test.ts has all the rules.
test('an invalid e-mail, or one whose domain people would mistake for another, is INVALID_REQUEST in every call, and no mail is sent', async () => {
  const { app, mailbox } = await mailAppForTest()
  const user = await app.signIn('sender@example.org')
  await mailbox.mailTo(user.email)
  const addresses: [email: string, why: string, login?: ErrorCode][] = [
    ['olga@example', 'Введите корректный email'],
    [`${'o'.repeat(243)}@example.org`, ''],
    ['olga@example.org,victim@example.com', ''],
    ['olga@example.org\r\nBcc: victim@example.com', ''],
    ['Olga<victim@example.com>', ''],
    ['olga@exаmple.org', 'после «@»', 'USER_NOT_FOUND'],
    ['olga@xn--exmple-4nf.org', 'после «@»', 'USER_NOT_FOUND'],
  ]
  for (const [email, why, login = 'INVALID_REQUEST'] of addresses) {
    expectRefusal(await startAt(app, '/registrations', { email }), 'INVALID_REQUEST')
    expectRefusal(await startAt(app, '/logins', { email }), login)
    const refused = await startChange(app, user, email)
    expectRefusal(refused, 'INVALID_REQUEST')
    expect(refused.body.message).toContain(why)
  }
  const last = newEmail()
  await startAt(app, '/registrations', { email: last })
  await mailbox.mailTo(last)
  expect(mailbox.mails.map(({ to }) => to)).toEqual([user.email, last])
})
