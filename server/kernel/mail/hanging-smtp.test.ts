import { expect, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { openHangingSmtp, SMTP_STEPS } from '../../testing/hanging-smtp.ts'
import { smtpSender, toMessage } from './smtp.ts'

const MESSAGE = toMessage(
  { to: 'olga@example.org', subject: '012345 — код', text: 'Код' },
  { name: 'Вслух', address: 'no-reply@vsluh.example' },
)
/** Long enough for seven conversations on a busy machine. */
const CONVERSATION_MS = 2000

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
