import { expect, test } from 'vitest'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { passCodeTime, passLimitTime } from '../../testing/passing-time.ts'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForTest, mailAppForTest, type TestApp } from '../../testing/test-app.ts'

const EMAIL = 'kate@example.org'
/** Equal to EMAIL by Unicode case, yet another address: it begins with KELVIN SIGN, U+212A. */
const EQUAL = '\u212aate@example.org'

async function emailOf(app: TestApp, token: string): Promise<string> {
  return (await app.call('GET', '/users/current', { token })).body.email
}

test('the case of an e-mail does not matter: another spelling signs in to the same account', async () => {
  const app = await appForTest()
  const kate = await app.signIn(EMAIL)
  const again = await app.signIn('KATE@Example.ORG')
  expect(again.id).toBe(kate.id)
  expect(again.email).toBe(EMAIL)
})

test.each(['ольга@xn--80a1acny.xn--p1ai', 'ОЛЬГА@ПОЧТА.рф.'])(
  'the spelling of a domain does not matter: %s signs in to the account of ольга@почта.рф',
  async (spelling) => {
    const app = await appForTest()
    const olga = await app.signIn('ольга@почта.рф')
    expect((await app.signIn(spelling)).id).toBe(olga.id)
    expect((await startAt(app, '/logins', { email: spelling })).status).toBe(201)
  },
)

test('an address is stored with its domain in the usual form', async () => {
  const app = await appForTest()
  expect((await app.signIn('Kate@ｅxample.org')).email).toBe('Kate@example.org')
})

test('+tags are stored, and another tag is another account', async () => {
  const app = await appForTest()
  const plain = await app.signIn(EMAIL)
  const tagged = await app.signIn('kate+wall@example.org')
  expect(tagged.id).not.toBe(plain.id)
  expect(tagged.email).toBe('kate+wall@example.org')
})

test.each(['/logins', '/registrations'] as const)(
  'a code requested at %s with an e-mail that is only equal by Unicode case goes to the account’s own address',
  async (path) => {
    const { app, mailbox } = await mailAppForTest()
    const kate = await app.signIn(EMAIL)
    await mailbox.mailTo(EMAIL)
    await passLimitTime(app, 61)

    const { body } = await startAt(app, path, { email: EQUAL })
    const code = await mailbox.codeFor(EMAIL, 2)
    expect(code).toBe(app.codeFor(body.id))
    expect(mailbox.mails.map(({ to }) => to)).toEqual([EMAIL, EMAIL])
    const verified = await verifyAt(app, path, { id: body.id, code })
    expect(await emailOf(app, verified.body.accessToken.token)).toBe(kate.email)
  },
)

test('a code mailed to an equal e-mail before the account was created does not sign in to it', async () => {
  const app = await appForTest()
  const { body } = await startAt(app, '/registrations', { email: EQUAL })
  await app.signIn(EMAIL, 'kate’s browser')
  const code = app.codeFor(body.id)
  const refusal = await verifyAt(app, '/registrations', { id: body.id, code })
  expectRefusal(refusal, 'OPERATION_EXPIRED')
  expect(refusal.cookie).toBeUndefined()
})

test('a repeated start with an equal e-mail does not make a mailed code valid for the other address', async () => {
  const { app, mailbox } = await mailAppForTest()
  const { body } = await startAt(app, '/registrations', { email: EQUAL })
  await mailbox.mailTo(EQUAL)
  await app.signIn(EMAIL, 'kate’s browser')
  await passCodeTime(app, 61)
  await passLimitTime(app, 61)

  await startAt(app, '/registrations', { email: EMAIL })
  await mailbox.mailTo(EQUAL, 2)
  const code = app.codeFor(body.id)
  expectRefusal(await verifyAt(app, '/registrations', { id: body.id, code }), 'OPERATION_EXPIRED')
})
