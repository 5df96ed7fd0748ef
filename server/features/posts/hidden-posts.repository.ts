import { type RawBuilder, sql } from 'kysely'
import { idArray, type Queryable } from '../../kernel/db/database.ts'
import type { HiddenFor, Tables } from '../../kernel/db/tables.ts'
import { addJob } from '../../kernel/queue/queue.ts'

/** `days`: the days until the post is purged; null if it is not purged by time. */
export type Hiding = {
  why: HiddenFor
  reason: string | null
  by: string
  days: number | null
}

export type LockedPost = Pick<Tables['posts'], 'id' | 'owner_id' | 'text' | 'hidden_for'> & {
  has_many_likes: boolean
}

/** The job `move-likes` moves the likes of a post with more likes. */
const LIKES_AT_ONCE = sql.raw('500')

/**
 * Locks posts, and the posts that they reply to, by ascending id as all code does. Returns the
 * existing posts. A join instead of the array could lose a row that changes while it waits.
 */
export async function lockPosts(tx: Queryable, ids: string[]): Promise<LockedPost[]> {
  const { rows } = await sql<LockedPost>`
    WITH own AS (SELECT id, replied_post_id FROM posts WHERE id = ANY(${idArray(ids)}::bigint[]))
    SELECT id, owner_id, text, hidden_for,
      likes_moving_since IS NOT NULL OR likes_count > ${LIKES_AT_ONCE} AS has_many_likes
    FROM posts
    WHERE id = ANY(ARRAY(SELECT id FROM own UNION ALL SELECT replied_post_id FROM own))
    ORDER BY id FOR UPDATE`.execute(tx)
  const own = new Set(ids)
  return rows.filter(({ id }) => own.has(id))
}

/** Hides locked posts, or shows them if `hiding` is null. Many likes follow in `move-likes`. */
export async function setHidden(
  tx: Queryable,
  ids: string[],
  hiding: Hiding | null,
): Promise<void> {
  const { rows } = await sql<{ id: string; moves_later: boolean }>`
    UPDATE posts SET
      hidden_for = ${hiding?.why ?? null}, hidden_reason = ${hiding?.reason ?? null}, hidden_by = ${hiding?.by ?? null},
      hidden_at = ${hiding ? sql`now()` : null}, hidden_until = ${hiding ? untilOf(hiding) : null},
      likes_moving_since = CASE WHEN likes_moving_since IS NOT NULL OR likes_count > ${LIKES_AT_ONCE}
        THEN clock_timestamp() END
    WHERE id = ANY(${idArray(ids)}::bigint[])
    RETURNING id, likes_moving_since IS NOT NULL AS moves_later`.execute(tx)
  const withLikes = rows.filter((row) => !row.moves_later).map(({ id }) => id)
  await sql`UPDATE likes SET post_hidden = ${hiding !== null}
    WHERE post_id = ANY(${idArray(withLikes)}::bigint[]) AND post_hidden <> ${hiding !== null}`.execute(
    tx,
  )
  if (withLikes.length < rows.length) await addJob(tx, 'move-likes')
}

function untilOf({ days }: Hiding) {
  return days === null ? sql`'infinity'` : sql`now() + ${days} * interval '1 day'`
}

/** The most posts, and about the most likes of these, that one short transaction changes. */
const POSTS_STEP = sql.raw('500')
const LIKES_STEP = sql.raw('5000')

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
    (condition) => sql`(SELECT id, likes_count FROM posts
      WHERE owner_id = ${ownerId}::bigint AND ${sql.raw(condition)}
      ORDER BY id DESC LIMIT ${POSTS_STEP})`,
  )
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM (
      SELECT id, sum(likes) OVER (ORDER BY id DESC) - likes AS likes_of_newer
      FROM (${sql.join(newest, sql` UNION ALL `)}) own, LATERAL (
        SELECT CASE WHEN likes_count <= ${LIKES_AT_ONCE} THEN likes_count ELSE 0 END AS likes
      ) counted
      ORDER BY id DESC LIMIT ${POSTS_STEP}
    ) step WHERE likes_of_newer < ${LIKES_STEP}`.execute(tx)
  const ids = rows.map(({ id }) => id)
  const locked = await lockPosts(tx, ids)
  // Some posts may have been hidden or shown before they were locked.
  const isStill = ({ hidden_for }: LockedPost) =>
    kind === 'left' ? hidden_for === 'left' : (hidden_for !== null) === (kind === 'hidden')
  return locked.filter(isStill).map(({ id }) => id)
}

/** A post whose likes must still be hidden, shown or purged like the post itself. */
export type MovingPost = { id: string; kind: 'hide' | 'show' | 'purge'; since: string }

export async function selectMoving(db: Queryable): Promise<MovingPost[]> {
  const { rows } = await sql<MovingPost>`
    SELECT id, likes_moving_since::text AS since, CASE
      WHEN hidden_for IS NULL THEN 'show' WHEN ${IS_PURGED} THEN 'purge' ELSE 'hide' END AS kind
    FROM posts WHERE likes_moving_since IS NOT NULL ORDER BY id`.execute(db)
  return rows
}

const IS_PURGED = sql<boolean>`(hidden_for = 'deleted' AND hidden_until <= now())`

/** Records that all likes have moved, unless the post was hidden or shown again meanwhile. */
export async function markMoved(db: Queryable, { id, since }: MovingPost): Promise<void> {
  await sql`UPDATE posts SET likes_moving_since = NULL
    WHERE id = ${id} AND likes_moving_since = ${since}::timestamptz`.execute(db)
}

/** Marks expired posts for the job `move-likes`, except the posts that `kept` selects. */
export async function markExpired(db: Queryable, kept: RawBuilder<unknown>): Promise<void> {
  await sql`UPDATE posts SET hidden_for = 'deleted', text = '', likes_moving_since = clock_timestamp()
    WHERE hidden_for IS NOT NULL AND hidden_until < now()
      AND (hidden_for <> 'deleted' OR likes_moving_since IS NULL)
      AND id NOT IN (${kept})`.execute(db)
}

export async function deletePosts(tx: Queryable, ids: string[]): Promise<void> {
  await sql`DELETE FROM posts WHERE id = ANY(${idArray(ids)}::bigint[])`.execute(tx)
}
