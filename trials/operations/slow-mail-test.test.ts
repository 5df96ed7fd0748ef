import { expect, onTestFinished, test } from 'vitest'
import { LONGEST_CONVERSATION_SECONDS } from '../../server/kernel/mail/relay.ts'
import { runCommand } from '../../server/testing/run-command.ts'
import { openTarpitSmtp } from '../../server/testing/smtp-faults.ts'

/** How long a command may take to start and to end on a busy machine. */
const START_SECONDS = 15

test('mail test gives a server up that replies without end, and says what to do', async () => {
  const tarpits = await Promise.all([openTarpitSmtp('greeting'), openTarpitSmtp('hello')])
  const tried = tarpits.map(async ({ url, open, close }) => {
    onTestFinished(close)
    const began = performance.now()
    const result = await runCommand({ SMTP_URL: url }, 'mail', 'test', 'olga@example.org')
    await expect.poll(open).toBe(0)
    return { ...result, seconds: (performance.now() - began) / 1000 }
  })
  for (const { code, out, err, seconds } of await Promise.all(tried)) {
    expect({ code, err }).toEqual({ code: 1, err: '' })
    expect(out).toMatch(/^✗ \S.*\. [А-Я].*\.\n$/m)
    expect(seconds).toBeLessThan(LONGEST_CONVERSATION_SECONDS + START_SECONDS)
  }
}, 120_000)
