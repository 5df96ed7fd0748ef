import { type RawBuilder, type Selectable, sql } from 'kysely'
import { idArray, type Queryable } from '../../kernel/db/database.ts'
import type { HiddenFor, Tables } from '../../kernel/db/tables.ts'

/** `days`: the days until the post is purged; null if it is not purged by time. */
export type Hiding = {
  why: HiddenFor
  reason: string | null
  by: string
  days: number | null
}

export type LockedPost = Pick<
  Selectable<Tables['posts']>,
  'id' | 'owner_id' | 'text' | 'hidden_for' | 'likes_count'
>

/**
 * Locks posts, and the posts that they reply to, by ascending id as all code does. Returns the
 * existing posts. A join instead of the array could lose a row that changes while it waits.
 */
export async function lockPosts(tx: Queryable, ids: string[]): Promise<LockedPost[]> {
  const { rows } = await sql<LockedPost>`
    WITH own AS (SELECT id, replied_post_id FROM posts WHERE id = ANY(${idArray(ids)}::bigint[]))
    SELECT id, owner_id, text, hidden_for, likes_count FROM posts
    WHERE id = ANY(ARRAY(SELECT id FROM own UNION ALL SELECT replied_post_id FROM own))
    ORDER BY id FOR UPDATE`.execute(tx)
  const own = new Set(ids)
  return rows.filter(({ id }) => own.has(id))
}

/** Hides locked posts, or shows them if `hiding` is null. */
export async function setHidden(
  tx: Queryable,
  ids: string[],
  hiding: Hiding | null,
): Promise<void> {
  await sql`UPDATE posts SET
      hidden_for = ${hiding?.why ?? null}, hidden_reason = ${hiding?.reason ?? null}, hidden_by = ${hiding?.by ?? null},
      hidden_at = ${hiding ? sql`now()` : null}, hidden_until = ${hiding ? untilOf(hiding) : null}
    WHERE id = ANY(${idArray(ids)}::bigint[])`.execute(tx)
}

function untilOf({ days }: Hiding) {
  return days === null ? sql`'infinity'` : sql`now() + ${days} * interval '1 day'`
}

/** The most posts that one short transaction changes. */
const POSTS_STEP = sql.raw('500')

/** The kinds of a user's posts as SQL conditions, one for each index. */
const OWN_POSTS = {
  visible: [
    'hidden_for IS NULL AND replied_post_id IS NULL',
    'hidden_for IS NULL AND replied_post_id IS NOT NULL',
  ],
  left: [`hidden_for = 'left'`],
  hidden: ['hidden_for IS NOT NULL'],
}

/** Locks some of a user's newest posts of one kind. Returns their ids. */
export async function lockPostsOf(
  tx: Queryable,
  ownerId: string,
  kind: keyof typeof OWN_POSTS,
): Promise<string[]> {
  const newest = OWN_POSTS[kind].map(
    (condition) => sql`(SELECT id FROM posts
      WHERE owner_id = ${ownerId}::bigint AND ${sql.raw(condition)}
      ORDER BY id DESC LIMIT ${POSTS_STEP})`,
  )
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM (${sql.join(newest, sql` UNION ALL `)}) own
    ORDER BY id DESC LIMIT ${POSTS_STEP}`.execute(tx)
  const ids = rows.map(({ id }) => id)
  const locked = await lockPosts(tx, ids)
  // Some posts may have been hidden or shown before they were locked.
  const isStill = ({ hidden_for }: LockedPost) =>
    kind === 'left' ? hidden_for === 'left' : (hidden_for !== null) === (kind === 'hidden')
  return locked.filter(isStill).map(({ id }) => id)
}

/** Marks expired posts for the job `purge-posts`, except those in `keptIds`. */
export async function markExpiredPosts(db: Queryable, keptIds: RawBuilder<unknown>): Promise<void> {
  await sql`UPDATE posts SET hidden_for = 'deleted', text = ''
    WHERE hidden_for IS NOT NULL AND hidden_until < now() AND text <> ''
      AND id NOT IN (${keptIds})`.execute(db)
}

/** Locks some posts that are marked: deleted, without a text. Returns their ids. */
export async function lockMarked(tx: Queryable): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM posts WHERE id = ANY (ARRAY(
      SELECT id FROM posts WHERE hidden_for = 'deleted' AND text = '' AND hidden_until <= now()
      ORDER BY hidden_until LIMIT ${POSTS_STEP}
    )) ORDER BY id FOR UPDATE`.execute(tx)
  return rows.map(({ id }) => id)
}

export async function deletePosts(tx: Queryable, ids: string[]): Promise<void> {
  await sql`DELETE FROM posts WHERE id = ANY(${idArray(ids)}::bigint[])`.execute(tx)
}
