import { expect, test } from 'vitest'
import { databaseForTest } from './testing/database/database-for-test.ts'
import { shiftedClock } from './testing/database/shifted-clock.ts'
import { createClient } from './testing/http/client.ts'
import { mailboxForTest } from './testing/mail/mailbox.ts'
import { startMain } from './testing/process/start-main.ts'

test.each([
  ['ahead of', 15 * 60],
  ['behind', -15 * 60],
])(
  'a node whose clock gets 15 minutes %s the database’s still mails codes, which are still accepted',
  async (_how, seconds) => {
    const DATABASE_URL = await databaseForTest()
    const mailbox = await mailboxForTest()
    const clock = await shiftedClock()
    const env = { DATABASE_URL, APP_SECRET: 's'.repeat(32), SMTP_URL: mailbox.url }
    const { code, url, stderr } = await startMain({ ...clock.env, ...env })
    expect({ code, stderr }).toEqual({ code: null, stderr: '' })
    const email = 'olga@example.org'
    const client = createClient(url, { check() {}, codeFor: () => mailbox.codeFor(email) })
    await clock.shift(seconds)
    expect(await client.signIn(email)).toMatchObject({ email })
    expect(mailbox.mails[0]?.text).toContain('Код действует 10 минут.')
  },
)
