import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'

/** How long a username that was given up is kept for who had it: nobody else is to speak under a name still remembered. */
const KEPT_SECONDS = 30 * 86_400

const keptSince = sql<Date>`now() - ${sql.lit(KEPT_SECONDS)} * interval '1 second'`

/** The rows, one at most, that keep a username for its former owner. */
export function keptName(db: Queryable, username: string) {
  return db
    .selectFrom('released_usernames')
    .select('user_id')
    .where('name', '=', username.toLowerCase())
    .where('released_at', '>', keptSince)
}

/** Whether a username is kept for another user than this one. */
export async function isUsernameKept(
  db: Queryable,
  username: string,
  userId: string,
): Promise<boolean> {
  const row = await keptName(db, username).where('user_id', '!=', userId).executeTakeFirst()
  return row !== undefined
}

/** Keeps a username for the user who gives it up now. */
export async function releaseUsername(
  tx: Queryable,
  { username, userId }: { username: string; userId: string },
): Promise<void> {
  const release = { user_id: userId, released_at: sql<Date>`now()` }
  await tx
    .insertInto('released_usernames')
    .values({ name: username.toLowerCase(), user_id: userId })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(release))
    .execute()
}

export async function removeExpiredReleases(db: Queryable): Promise<void> {
  await db.deleteFrom('released_usernames').where('released_at', '<=', keptSince).execute()
}
