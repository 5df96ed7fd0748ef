import { expect, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { openHangingSmtp, SMTP_STEPS } from '../../testing/hanging-smtp.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { appForTest, NODES, type TestApp } from '../../testing/test-app.ts'
import { smtpSender, toMessage } from './smtp.ts'

const MESSAGE = toMessage(
  { to: 'olga@example.org', subject: '012345 — код', text: 'Код' },
  { name: 'Вслух', address: 'no-reply@vsluh.example' },
)
/** Long enough for seven conversations on a busy machine. */
const CONVERSATION_MS = 3000

test('a server that hangs at any step is given up at the deadline, and its connection is closed', async () => {
  const failures = await Promise.all(
    SMTP_STEPS.map(async (step) => {
      const hanging = closeAfterTest(await openHangingSmtp(step))
      const send = smtpSender({ url: hanging.url }, { conversationMs: CONVERSATION_MS })
      const { kind, code, login } = await send(MESSAGE).catch((error) => error)
      await expect.poll(() => hanging.counts.open).toBe(0)
      return [step, { kind, code, login, mails: hanging.counts.mails }]
    }),
  )
  // Only a mail that was sent whole may have arrived.
  const failed = { kind: 'failed', code: 'EABORT', login: undefined, mails: 0 }
  expect(Object.fromEntries(failures)).toEqual({
    ...Object.fromEntries(SMTP_STEPS.map((step) => [step, failed])),
    message: { ...failed, kind: 'unanswered', mails: 1 },
  })
})

const startLetters = (app: TestApp, path: '/registrations' | '/logins', name: string) =>
  startAt(app, path, { email: `${name}@example.org`, clientToken: name })

test('while the server hangs, a start for an address with letters beyond ASCII is answered at once, and one conversation asks about such addresses', async () => {
  const hanging = await openHangingSmtp('greeting')
  const app = await appForTest({ config: { smtpUrl: hanging.url } })
  // It closes before the app, which would wait for its conversations.
  closeAfterTest(hanging)
  for (const name of ['иван', 'анна', 'пётр']) {
    expectRefusal(await startLetters(app, '/logins', name), 'USER_NOT_FOUND')
  }
  expect(hanging.counts.connections).toBe(0)
  const began = performance.now()
  const started = ['иван', 'анна', 'пётр'].map((name) => startLetters(app, '/registrations', name))
  expect((await Promise.all(started)).map(({ status }) => status)).toEqual([201, 201, 201])
  expect(performance.now() - began).toBeLessThan(4000)
  // One conversation more is that of the first mail.
  expect(hanging.counts.connections).toBeLessThanOrEqual(NODES + 1)
})
