import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startChange } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { mailAppForFile } from '../../testing/test-app.ts'

const { app, mailbox } = await mailAppForFile()
const user = await app.signIn('sender@example.org')
await mailbox.mailTo(user.email)

const change = (email: string) => startChange(app, user, email)

/** contract/email.test.ts has all the rules. */
const INVALID = [
  'olga@example',
  `${'o'.repeat(243)}@example.org`,
  'olga@example.org,victim@example.com',
  'olga@example.org\r\nBcc: victim@example.com',
  'Olga<victim@example.com>',
]

test('an invalid e-mail is INVALID_REQUEST in every call, and no mail is sent', async () => {
  const before = mailbox.mails.length
  const messages: string[] = []
  for (const email of INVALID) {
    for (const path of ['/registrations', '/logins'] as const) {
      expectRefusal(await startAt(app, path, { email }), 'INVALID_REQUEST')
    }
    const refused = await change(email)
    expectRefusal(refused, 'INVALID_REQUEST')
    messages.push(refused.body.message)
  }
  expect(messages[0]).toBe('Введите корректный email')
  const last = `${randomUUID()}@example.org`
  await startAt(app, '/registrations', { email: last })
  await mailbox.mailTo(last)
  expect(mailbox.mails.slice(before).map(({ to }) => to)).toEqual([last])
})

test.each(['olga@exаmple.org', 'olga@xn--exmple-4nf.org'])(
  'an account cannot have %s, whose domain people would mistake for another',
  async (email) => {
    expectRefusal(await startAt(app, '/registrations', { email }), 'INVALID_REQUEST')
    const refused = await change(email)
    expectRefusal(refused, 'INVALID_REQUEST')
    expect(refused.body.message).toContain('после «@»')
    expectRefusal(await startAt(app, '/logins', { email }), 'USER_NOT_FOUND')
  },
)
