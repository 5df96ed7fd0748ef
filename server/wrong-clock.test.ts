import { expect, test } from 'vitest'
import { databaseForTest } from './testing/database/database-for-test.ts'
import { shiftedClock } from './testing/database/shifted-clock.ts'
import { EMAIL, startWall } from './testing/process/start-wall.ts'

test.each([
  ['ahead of', 15 * 60],
  ['behind', -15 * 60],
])(
  'a node whose clock gets 15 minutes %s the database’s still mails codes, which are still accepted',
  async (_how, seconds) => {
    const clock = await shiftedClock()
    const env = { DATABASE_URL: await databaseForTest(), APP_SECRET: 's'.repeat(32) }
    const { client, mailbox, stderr } = await startWall({ ...clock.env, ...env })
    expect(stderr).toBe('')
    await clock.shift(seconds)
    expect(await client.signIn(EMAIL)).toMatchObject({ email: EMAIL })
    expect(mailbox.mails[0]?.text).toContain('Код действует 10 минут.')
  },
)
