import { type RawBuilder, sql } from 'kysely'
import type { Db, Queryable } from '../db/database.ts'

/** While the mail server refuses the login, one mail is tried this often, by all nodes together. */
const PAUSE_SECONDS = 60
const PAUSE = sql.raw(`interval '${PAUSE_SECONDS} seconds'`)

/** Whether a mail must wait because the login was refused, or is the one of this minute that tries it again. */
export type LoginPause = { isPaused: boolean; isProbe: boolean }

/**
 * Takes the try of this minute where the login was refused. A next try later than two pauses was set while the clock was
 * ahead, and is ignored; one of a little more than a pause was set by a mail that asked later and came first.
 */
export async function takeTry(db: Queryable): Promise<LoginPause> {
  const { rows } = await sql<{ isRefused: boolean; isProbe: boolean }>`
    WITH taken AS (
      UPDATE mail_pause SET next_try_at = now() + ${PAUSE}
      WHERE refused_since IS NOT NULL AND (next_try_at <= now() OR next_try_at > now() + 2 * ${PAUSE})
      RETURNING true
    )
    SELECT refused_since IS NOT NULL AS "isRefused", EXISTS (SELECT FROM taken) AS "isProbe"
    FROM mail_pause`.execute(db)
  const { isRefused = false, isProbe = false } = rows[0] ?? {}
  return { isPaused: isRefused && !isProbe, isProbe }
}

/**
 * Returns how many milliseconds are left until the next try, or undefined where the pause has ended. No pause ends or
 * becomes shorter until the transaction does: a mail that is queued in it is there to be rescheduled.
 */
export async function lockPause(tx: Queryable): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number }>`
    SELECT greatest(0, extract(epoch FROM next_try_at - now()) * 1000)::float8 AS ms
    FROM mail_pause WHERE refused_since IS NOT NULL FOR SHARE`.execute(tx)
  return rows[0]?.ms
}

/** Pauses all mails for a minute, because the mail server has refused the login. */
export async function pauseMails(db: Queryable): Promise<void> {
  await db
    .updateTable('mail_pause')
    .set((eb) => ({
      refused_since: eb.fn.coalesce('refused_since', sql<Date>`now()`),
      next_try_at: sql<Date>`now() + ${PAUSE}`,
    }))
    .execute()
}

/** Ends the pause, because the mail server has accepted the login. */
export function endPause(db: Db): Promise<void> {
  return changePause(db, sql`refused_since = NULL, next_try_at = NULL`)
}

/** Lets one mail be tried at once, because a start may have brought another login. */
export function shortenPause(db: Db): Promise<void> {
  return changePause(db, sql`next_try_at = now()`)
}

/** Changes the pause where there is one, and lets the mails that wait for it go on. */
function changePause(db: Db, change: RawBuilder<unknown>): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      UPDATE mail_pause SET ${change} WHERE refused_since IS NOT NULL RETURNING true`.execute(tx)
    if (rows.length === 0) return
    await sql`SELECT graphile_worker.reschedule_jobs(array_agg(id), run_at => now())
      FROM graphile_worker._private_jobs
      WHERE payload->>'waitsFor' = 'login' AND locked_at IS NULL`.execute(tx)
  })
}
