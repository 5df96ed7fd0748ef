import { type RawBuilder, sql } from 'kysely'
import { RECENT_POSTS_MAX } from '../../../contract/constants.ts'
import type { PostState, QueuedPost } from '../../../contract/moderation.ts'
import { idArray, isRowId, type Queryable, unixSeconds } from '../../kernel/db/database.ts'
import type { HiddenFor } from '../../kernel/db/tables.ts'

const COMMENTS_MAX = sql.raw('20')
const REPLIES_SHOWN = sql.raw('3')

/** Selects the open appeals that can be decided: their posts still exist. */
const OPEN_APPEALS = sql`SELECT post_id, user_id AS author_id, created_at FROM appeals
  WHERE state = 'open' AND EXISTS (SELECT FROM posts WHERE id = post_id)`

const WAITING = sql`SELECT post_id, author_id, min(created_at) AS since, bool_or(is_appeal) AS is_appeal FROM (
    SELECT post_id, author_id, created_at, false AS is_appeal FROM reports WHERE state = 'open'
    UNION ALL SELECT *, true FROM (${OPEN_APPEALS}) appeal
  ) open GROUP BY post_id, author_id`

/** The state of a post `p` that may not exist: posts of authors who have left count as deleted. */
export const POST_STATE = sql<PostState>`CASE WHEN p.id IS NULL OR p.hidden_for IN ('deleted', 'left') THEN 'deleted'
    WHEN p.hidden_for = 'reported' THEN 'hidden' WHEN p.hidden_for = 'removed' THEN 'removed' ELSE 'published' END`

/** The text of a post `p` or, if it is purged, of its last report `r`. */
const POST_TEXT = sql<string>`coalesce(nullif(p.text, ''), r.post_text)`

/** The post that a decision is about; if it is purged, as it was reported. */
export type Subject = {
  owner_id: string
  username: string
  text: string
  state: PostState
  hidden_for: HiddenFor | null
  reason: string | null
}

/** Returns undefined for an id that neither a post nor a report has. */
export async function selectSubject(db: Queryable, id: string): Promise<Subject | undefined> {
  if (!isRowId(id)) return undefined
  const { rows } = await sql<Subject>`
    SELECT u.id AS owner_id, u.username, ${POST_TEXT} AS text,
      ${POST_STATE} AS state, p.hidden_for, p.hidden_reason AS reason
    FROM (SELECT ${id}::bigint AS id) asked
    LEFT JOIN posts p ON p.id = asked.id
    LEFT JOIN LATERAL (
      SELECT author_id, post_text FROM reports WHERE post_id = asked.id ORDER BY id DESC LIMIT 1
    ) r ON true
    JOIN users u ON u.id = coalesce(p.owner_id, r.author_id)
    WHERE ${POST_TEXT} IS NOT NULL`.execute(db)
  return rows[0]
}

/** Returns waiting posts by author, first appeals, then the author with the longest wait, and counts. */
export async function selectWaitingIds(
  db: Queryable,
  limit: number,
  offset: number,
): Promise<{ ids: string[]; total: number; appeals: number }> {
  const { rows } = await sql<{ post_id: string; total: number; appeals: number }>`
    SELECT post_id, (count(*) OVER ())::int AS total,
      (count(*) FILTER (WHERE is_appeal) OVER ())::int AS appeals
    FROM (${WAITING}) waiting
    ORDER BY bool_or(is_appeal) OVER (PARTITION BY author_id) DESC,
      min(since) OVER (PARTITION BY author_id), author_id, is_appeal DESC, since, post_id
    LIMIT ${limit} OFFSET ${offset}`.execute(db)
  const { total = 0, appeals = 0 } = rows[0] ?? {}
  return { ids: rows.map((row) => row.post_id), total, appeals }
}

export type WaitingCounts = { posts: number; reports: number; appeals: number; oldest: Date | null }

export async function countWaiting(db: Queryable): Promise<WaitingCounts> {
  const { rows } = await sql<WaitingCounts>`
    SELECT count(*)::int AS posts, min(since) AS oldest,
      (SELECT count(*) FROM reports WHERE state = 'open')::int AS reports,
      (SELECT count(*) FROM (${OPEN_APPEALS}) appeal)::int AS appeals
    FROM (${WAITING}) waiting`.execute(db)
  return rows[0] as WaitingCounts
}

/** The number of the newest acts about an author that are read; more would be slow. */
const ACTS_MAX = sql.raw('500')
const DAY_SECONDS = 86_400

/** Selects the posts whose last act is a removal: a refused appeal counts as one. */
const REMOVED = sql`SELECT FROM (
    SELECT DISTINCT ON (post_id) action FROM (
      SELECT id, post_id, action FROM journal WHERE user_id = u.id ORDER BY id DESC LIMIT ${ACTS_MAX}
    ) acts
    WHERE action IN ('post.remove', 'post.restore') ORDER BY post_id, id DESC
  ) last WHERE action = 'post.remove'`

/** Selects an author's newest posts that can be removed now, with one part for each index. */
function recentPosts(ownerId: RawBuilder<unknown>, seconds: number, limit: number | null) {
  const newest = [
    'hidden_for IS NULL AND replied_post_id IS NULL',
    'hidden_for IS NULL AND replied_post_id IS NOT NULL',
    'hidden_for IS NOT NULL',
  ].map(
    (condition) => sql`(SELECT id, created_at, hidden_for FROM posts
      WHERE owner_id = ${ownerId} AND ${sql.raw(condition)} ORDER BY id DESC LIMIT ${limit}::int)`,
  )
  return sql<{ id: string }>`SELECT id FROM (${sql.join(newest, sql` UNION ALL `)}) newest
    WHERE coalesce(hidden_for, 'reported') = 'reported'
      AND created_at > now() - ${seconds}::float8 * interval '1 second'
    ORDER BY id DESC LIMIT ${limit}::int`
}

/** SQL for the author `u` of a post in the queue. */
const AUTHOR = sql`json_build_object(
    'id', u.id::text, 'username', u.username, 'createdAt', ${unixSeconds('u.created_at')},
    'posts', coalesce((SELECT posts + replies FROM owner_totals WHERE user_id = u.id), 0),
    'removed', (SELECT count(*) FROM (${REMOVED}) removed),
    'recent', (SELECT count(*) FROM (${recentPosts(sql`u.id`, DAY_SECONDS, RECENT_POSTS_MAX)}) recent),
    'block', (SELECT json_build_object('reason', reason, 'until', ${unixSeconds('until')})
      FROM blocks_in_force WHERE user_id = u.id))`

/** Returns the ids of `recentPosts`, oldest first. */
export async function selectRecentPosts(
  db: Queryable,
  userId: string,
  {
    seconds = DAY_SECONDS,
    limit = RECENT_POSTS_MAX,
  }: { seconds?: number; limit?: number | null } = {},
): Promise<string[]> {
  const { rows } = await recentPosts(sql`${userId}::bigint`, seconds, limit).execute(db)
  return rows.map(({ id }) => id).reverse()
}

/** A post with the ids of the posts above and below it, which may be purged by now. */
type WaitingPost = Omit<QueuedPost, 'thread'> & { before: string[]; replies: string[] }

/** Selects the reasons of a post's open reports, the most frequent first. */
const reasonsOf = (postId: RawBuilder<unknown>) => sql<{ name: string }>`
    SELECT rr.name, count(*)::int AS count
    FROM reports r JOIN report_reasons rr ON rr.id = r.reason_id
    WHERE r.state = 'open' AND r.post_id = ${postId}
    GROUP BY rr.name, rr.place ORDER BY count DESC, rr.place`

const APPEAL = sql`CASE WHEN ap.post_id IS NOT NULL THEN json_build_object('text', ap.text,
  'createdAt', ${unixSeconds('ap.created_at')}, 'removedFor', coalesce(p.hidden_reason, '')) END`

export async function selectWaitingPosts(db: Queryable, ids: string[]): Promise<WaitingPost[]> {
  const { rows } = await sql<WaitingPost>`
    SELECT asked.id::text AS id, ${POST_TEXT} AS text,
      nullif(r.post_text, ${POST_TEXT}) AS "reportedText",
      ${unixSeconds('coalesce(p.created_at, r.posted_at)')} AS "createdAt", ${POST_STATE} AS state,
      ${AUTHOR} AS author,
      (SELECT coalesce(json_agg(reason), '[]') FROM (${reasonsOf(sql`asked.id`)}) reason) AS reasons,
      ${unixSeconds('coalesce(least(counted.since, ap.created_at), p.created_at)')} AS since, counted.reporters, counted.comments,
      ${APPEAL} AS appeal,
      ARRAY(SELECT DISTINCT id FROM unnest(ARRAY[p.parent_post_id, p.replied_post_id]) id
        WHERE id IS NOT NULL ORDER BY id)::text[] AS before,
      ARRAY(SELECT r.id::text FROM visible_posts r WHERE r.replied_post_id = asked.id ORDER BY r.id LIMIT ${REPLIES_SHOWN})
        AS replies
    FROM unnest(${idArray(ids)}::bigint[]) WITH ORDINALITY asked (id, position)
    LEFT JOIN posts p ON p.id = asked.id
    LEFT JOIN appeals ap ON ap.post_id = asked.id AND ap.state = 'open'
    LEFT JOIN LATERAL (
      SELECT author_id, post_text, posted_at FROM reports
      WHERE post_id = asked.id AND state = 'open' ORDER BY id DESC LIMIT 1
    ) r ON true
    CROSS JOIN LATERAL (
      SELECT count(DISTINCT reporter_id)::int AS reporters, min(created_at) AS since,
        coalesce((array_agg(comment ORDER BY id) FILTER (WHERE comment IS NOT NULL))[:${COMMENTS_MAX}], '{}')
          AS comments
      FROM reports WHERE post_id = asked.id AND state = 'open'
    ) counted
    JOIN users u ON u.id = coalesce(p.owner_id, r.author_id)
    ORDER BY asked.position`.execute(db)
  return rows
}

/** Returns the most frequent reason of a post's open reports. */
export async function selectMainReason(db: Queryable, id: string): Promise<string | undefined> {
  return (await reasonsOf(sql`${id}`).execute(db)).rows[0]?.name
}

/** Returns the newest decisions about reported posts, with their reports and the reported text. */
export async function selectReportDecisions(db: Queryable, limit: number) {
  const { rows } = await sql<{
    post_id: string
    state: 'removed' | 'kept'
    decided_at: Date
    reports: number
    text: string
  }>`
    SELECT post_id, state, decided_at, count(*)::int AS reports, max(post_text) AS text
    FROM reports WHERE state <> 'open' GROUP BY post_id, state, decided_at
    ORDER BY decided_at DESC LIMIT ${limit}`.execute(db)
  return rows
}
