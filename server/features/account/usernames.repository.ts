import { sql } from 'kysely'
import type { Profile } from '../../../contract/account.ts'
import { hasRow, type Queryable, unixSeconds } from '../../kernel/db/database.ts'

/** A released username stays reserved this long, because people still know its owner by it. */
const RESERVED_SECONDS = 30 * 86_400

const reservedSince = sql<Date>`now() - ${sql.lit(RESERVED_SECONDS)} * interval '1 second'`

export function selectUsernameRelease(db: Queryable, username: string) {
  return db
    .selectFrom('released_usernames')
    .select('user_id')
    .where('name', '=', username.toLowerCase())
    .where('released_at', '>', reservedSince)
}

function selectHolder(db: Queryable, username: string) {
  return db
    .selectFrom('users')
    .select('id')
    .where((eb) => eb(eb.fn<string>('lower', ['username']), '=', username.toLowerCase()))
}

/** Returns the user with a username, or else the user who released it in the last 30 days. */
export function selectByUsername(db: Queryable, username: string): Promise<Profile | undefined> {
  return db
    .selectFrom('users')
    .leftJoin('owner_totals as t', 't.user_id', 'users.id')
    .select(['id', 'username', unixSeconds('created_at').as('created_at')])
    .select([
      sql<number>`coalesce(t.posts, 0)::int`.as('posts_count'),
      sql<number>`coalesce(t.replies, 0)::int`.as('replies_count'),
    ])
    .where('id', '=', ({ fn }) =>
      fn.coalesce(selectHolder(db, username), selectUsernameRelease(db, username)),
    )
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** A username that a user wants, with its keyed hash. */
type Wish = { username: string; userId: string; nameHash: Buffer }

/** Whether another user has a username or released it lately, or it was an erased user's. */
export async function isUsernameTaken(
  db: Queryable,
  { username, userId, nameHash }: Wish,
): Promise<boolean> {
  const holder = selectHolder(db, username).where('id', '!=', userId)
  const released = selectUsernameRelease(db, username).where('user_id', '!=', userId)
  const names = db.selectFrom('reserved_usernames').where('name_hash', '=', nameHash)
  return (await hasRow(holder)) || (await hasRow(released)) || hasRow(names.select('name_hash'))
}

export async function selectUsernames(db: Queryable, userId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT username AS name FROM users WHERE id = ${userId}
    UNION SELECT name FROM released_usernames WHERE user_id = ${userId}`.execute(db)
  return rows.map(({ name }) => name)
}

export async function reserveUsernames(tx: Queryable, nameHashes: Buffer[]): Promise<void> {
  const rows = nameHashes.map((name_hash) => ({ name_hash }))
  await tx
    .insertInto('reserved_usernames')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Ends the reservation of a name that the user had, and that an operator gives back. */
export async function returnUsername(tx: Queryable, { nameHash, ...wish }: Wish): Promise<void> {
  const own = selectUsernameRelease(tx, wish.username).where('user_id', '=', wish.userId)
  await tx
    .deleteFrom('reserved_usernames')
    .where('name_hash', '=', nameHash)
    .where((eb) => eb.exists(own))
    .execute()
}

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
  await db.deleteFrom('released_usernames').where('released_at', '<=', reservedSince).execute()
}

/** Returns the names of the next authors with visible posts or replies, by their ids. */
export function selectAuthorsAfter(db: Queryable, { id, limit }: { id: string; limit: number }) {
  return db
    .selectFrom('users')
    .innerJoin('owner_totals as t', 't.user_id', 'users.id')
    .select(['id', 'username'])
    .where('id', '>', id)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`t.posts + t.replies > 0`)
    .orderBy('id')
    .limit(limit)
    .execute()
}
