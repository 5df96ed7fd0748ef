import { sql } from 'kysely'
import { expect } from 'vitest'
import { wakeSenders } from '../kernel/mail/queue-mail.ts'
import type { TestUser } from './client.ts'
import type { TestApp } from './test-app.ts'

/** Makes every one-time operation so many seconds older, once its mail has been tried: the time of a code begins with that. */
export async function passCodeTime(app: TestApp, seconds: number): Promise<void> {
  const queued = app.db
    .selectFrom('codes')
    .where('is_mailed', '=', true)
    .where('mail_state', '=', 'queued')
  await expect.poll(() => queued.select('id').execute()).toEqual([])
  await passRequestTime(app, seconds)
}

/** Makes every one-time operation so many seconds older, whatever has become of its mail. */
export async function passRequestTime({ db }: TestApp, seconds: number): Promise<void> {
  const passed = sql`${seconds} * interval '1 second'`
  await sql`UPDATE codes SET expires_at = expires_at - ${passed}, mailed_at = mailed_at - ${passed}`.execute(
    db,
  )
}

/** Makes every session so many seconds older. */
export async function passSessionTime({ db }: TestApp, seconds: number): Promise<void> {
  const passed = sql`${seconds} * interval '1 second'`
  await sql`UPDATE sessions SET created_at = created_at - ${passed}, used_at = used_at - ${passed},
    rotated_at = rotated_at - ${passed}`.execute(db)
}

/** Makes every e-mail change that can be undone so many seconds older. */
export async function passEmailChangeTime({ db }: TestApp, seconds: number): Promise<void> {
  await sql`UPDATE email_changes SET expires_at = expires_at - ${seconds} * interval '1 second'`.execute(
    db,
  )
}

/** Makes every released username so many seconds older. */
export async function passReleaseTime({ db }: TestApp, seconds: number): Promise<void> {
  await sql`UPDATE released_usernames SET released_at = released_at - ${seconds} * interval '1 second'`.execute(
    db,
  )
}

/** Makes the pause after a refused login so many seconds older, and with it the mails that wait. */
export async function passPauseTime({ db }: TestApp, seconds: number): Promise<void> {
  const passed = sql`${seconds} * interval '1 second'`
  await sql`UPDATE mail_pause SET next_try_at = next_try_at - ${passed}`.execute(db)
  await sql`UPDATE outbox SET due_at = due_at - ${passed} WHERE payload IS NOT NULL`.execute(db)
  await wakeSenders(db)
}

/** Makes every rate limit that is counted in the database so many seconds older. */
export async function passLimitTime({ db }: TestApp, seconds: number): Promise<void> {
  await sql`UPDATE rate_limits SET arrival = arrival - ${seconds} * interval '1 second'`.execute(db)
}

/** Makes the limits on code mails and every one-time operation so many seconds older. */
export async function passMailLimitTime(app: TestApp, seconds: number): Promise<void> {
  await passLimitTime(app, seconds)
  await passRequestTime(app, seconds)
}

/** Makes a decision so much older that it can no longer be undone; the journal refuses that otherwise. */
export async function passUndoTime({ db }: TestApp, decisionId: string): Promise<void> {
  await sql`ALTER TABLE journal DISABLE TRIGGER journal_append_only`.execute(db)
  await sql`UPDATE journal SET at = at - interval '13 seconds' WHERE id = ${decisionId}`.execute(db)
  await sql`ALTER TABLE journal ENABLE TRIGGER journal_append_only`.execute(db)
}

/** Signs up a new user whose account counts as an old one: the limits of accounts under a day old do not apply. */
export async function signUpEarlier(app: TestApp): Promise<TestUser> {
  const user = await app.signUp()
  await sql`UPDATE users SET created_at = now() - interval '1 year' WHERE id = ${user.id}`.execute(
    app.db,
  )
  return user
}
