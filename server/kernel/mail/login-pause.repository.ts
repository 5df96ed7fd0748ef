import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { SENDERS, wakeSenders } from './queue-mail.ts'

/** While the mail server refuses the login, all nodes together try one mail this often. */
const PAUSE_MS = 60_000
export const PAUSE = `interval '${PAUSE_MS} milliseconds'`
export const IS_PAUSED = sql<boolean>`EXISTS (SELECT FROM mail_pause WHERE refused_since IS NOT NULL)`

export function pauseMails(db: Db): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await sql`UPDATE mail_pause
      SET refused_since = coalesce(refused_since, now()), next_try_at = now() + ${sql.raw(PAUSE)}`.execute(
      tx,
    )
    await wakeSenders(tx, PAUSE_MS)
  })
}

export function endPause(db: Db): Promise<void> {
  return changePause(db, sql`refused_since = NULL, next_try_at = NULL`)
}

/** Lets one mail be tried at once, because a start may have brought another login. */
export function shortenPause(db: Db): Promise<void> {
  return changePause(db, sql`next_try_at = now()`)
}

function changePause(db: Db, change: RawBuilder<unknown>): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      UPDATE mail_pause SET ${change} WHERE refused_since IS NOT NULL RETURNING true`.execute(tx)
    if (rows.length === 0) return
    for (let sender = 0; sender < SENDERS; sender++) await wakeSenders(tx)
  })
}
