import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { EmailNotice } from './features/account/account.mail.ts'
import {
  recordEpisode,
  removeOldRefusals,
} from './features/site-state/mail-reputation.repository.ts'
import { findAskerWait, readMailReputation } from './features/site-state/mail-reputation.service.ts'
import type { Queryable } from './kernel/db/database.ts'
import { queueMail } from './kernel/mail/queue-mail.ts'
import { startAt, verifyAt, wrongCode } from './testing/calls/sign-in-calls.ts'
import { passCodeTime, passLimitTime, stopClock } from './testing/database/passing-time.ts'
import { appForTest, mailAppForFile, testPerNode } from './testing/test-app.ts'

const HOUR = 3600
const EMAIL = 'olga@example.org'
const LOCKED = 'petr@example.org'

const { app, mailbox } = await mailAppForFile({ rateLimitScale: 1 })

/** Changes rows to what they are after the clock was so many seconds ahead and went back. */
async function setClockBack(seconds: number): Promise<void> {
  await passCodeTime(app, -seconds)
  await passLimitTime(app, -seconds)
}

test('a code that was requested or locked while the clock was an hour ahead can be requested again once it is right', async () => {
  const start = (email: string) => startAt(app, '/registrations', { email })
  await start(EMAIL)
  await mailbox.codeFor(EMAIL)
  const { id } = (await start(LOCKED)).body
  const code = wrongCode(app.codeFor(id))
  for (let guess = 0; guess < 5; guess++) await verifyAt(app, '/registrations', { id, code })
  expect((await start(LOCKED)).status).toBe(429)
  await setClockBack(HOUR)
  for (const email of [EMAIL, LOCKED]) expect((await start(email)).status).toBe(201)
  await mailbox.codeFor(EMAIL, 2)
})

test('mails that were refused while the clock was an hour ahead slow no others once it is right', async () => {
  await app.sql`INSERT INTO mail_refusals (network_hash, at)
    SELECT decode(lpad(n::text, 64, '0'), 'hex'), now() + interval '1 hour'
    FROM generate_series(1, 20) n, generate_series(1, 5)`
  await app.sql`UPDATE site_state SET mails_refused_at = now() + interval '1 day'`
  expect(await readMailReputation(app.db)).toEqual({ refused: 0, networks: 0, isSlowed: false })
  const networkHash = Buffer.from('1'.padStart(64, '0'), 'hex')
  expect(await findAskerWait(app.db, { networkHash, most: 5 })).toBeUndefined()
  expect(await recordEpisode(app.db)).toBe(true)
  expect(await recordEpisode(app.db)).toBe(false)
  await removeOldRefusals(app.db)
  expect(await app.db.selectFrom('mail_refusals').select('at').execute()).toEqual([])
})

testPerNode('limits counted in memory, by each node for itself')(
  'the limits of the first day do not hold for an account that was made while the clock was a day ahead',
  async () => {
    stopClock()
    const app = await appForTest({ config: { rateLimitScale: 1 } })
    const { id, token } = await app.signUp()
    await app.sql`UPDATE users SET created_at = now() + interval '1 day' WHERE id = ${id}`
    const publish = () => app.call('POST', '/posts', { token, body: { text: 'Ещё одна' } })
    for (let post = 1; post <= 5; post++) expect((await publish()).status).toBe(201)
    expect((await publish()).body.message).toMatch(/^Записи нельзя публиковать так часто: /)
  },
)

const TO = 'anna@example.org'

function queueNotice(tx: Queryable): Promise<void> {
  const expiresAt = Date.now() + 600_000
  const notice: EmailNotice = { to: TO, username: 'olga_1', changeId: 'x', expiresAt }
  return queueMail(tx, 'send-email-notice', notice)
}

test('a mail whose retry a wrong clock scheduled an hour ahead is sent at once', async () => {
  await app.db.transaction().execute(async (tx) => {
    await queueNotice(tx)
    const ahead = sql`now() + interval '1 hour'`
    await sql`UPDATE outbox SET due_at = ${ahead}, claimed_until = ${ahead}`.execute(tx)
  })
  await mailbox.mailTo(TO)
})

test('mails whose login the mail server refused while the clock was 100 days ahead are sent at once', async () => {
  await app.sql`UPDATE mail_pause
    SET refused_since = now(), next_try_at = now() + interval '100 days'`
  await queueNotice(app.db)
  await mailbox.mailTo(TO, 2)
})
