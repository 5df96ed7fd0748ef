import { sql } from 'kysely'
import type { TestApp } from './test-app.ts'

/** Makes every one-time operation so many seconds older. */
export async function passCodeTime({ db }: TestApp, seconds: number): Promise<void> {
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

/** Makes every rate limit that is counted in the database so many seconds older. */
export async function passLimitTime({ db }: TestApp, seconds: number): Promise<void> {
  await sql`UPDATE rate_limits SET expire = expire - ${seconds} * 1000::bigint`.execute(db)
  const passed = sql`${seconds} * interval '1 second'`
  await sql`UPDATE code_mails SET asked_at = asked_at - ${passed}, expires_at = expires_at - ${passed},
    mailed_at = ARRAY(SELECT mailed - ${passed} FROM unnest(mailed_at) mailed)`.execute(db)
}
