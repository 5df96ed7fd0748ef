import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { DEVICE } from './testing/client.ts'
import { freshDatabase } from './testing/databases.ts'
import { openMailbox } from './testing/mailbox.ts'
import { shiftedClock } from './testing/shifted-clock.ts'
import { startMain } from './testing/start-main.ts'

// Each test starts the whole product several times.
vi.setConfig({ testTimeout: 60_000 })

test.each([
  ['ahead of', 15 * 60],
  ['behind', -15 * 60],
])(
  'a node whose clock gets 15 minutes %s the database’s still mails codes, which are still accepted',
  async (_how, seconds) => {
    const database = await freshDatabase(inject('databaseUrl'))
    const mailbox = await openMailbox()
    const clock = await shiftedClock()
    const { code, url, stderr, stop } = await startMain({
      ...clock.env,
      DATABASE_URL: database.url,
      APP_SECRET: 's'.repeat(32),
      SMTP_URL: mailbox.url,
    })
    onTestFinished(async () => {
      await stop()
      await mailbox.close()
      await database.drop()
    })
    expect({ code, stderr }).toEqual({ code: null, stderr: '' })
    const send = async (path: string, body: object) => {
      const answer = await fetch(`${url}/api/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ clientToken: 'one browser', ...body }),
      })
      return { status: answer.status, body: (await answer.json()) as { id?: string } }
    }

    await clock.shift(seconds)
    const email = 'olga@example.org'
    const started = await send('/registrations', { email, device: DEVICE })
    expect(started.status).toBe(201)
    const confirmCode = await mailbox.codeFor(email)
    expect(mailbox.mails[0]?.text).toContain('Код действует 10 минут.')
    const verified = await send(`/registrations/${started.body.id}/verify`, { confirmCode })
    expect(verified.status).toBe(200)
  },
)
