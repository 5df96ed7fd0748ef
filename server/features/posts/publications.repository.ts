import { type RawBuilder, sql } from 'kysely'
import type { Post } from '../../../contract/posts.ts'
import { idArray, type Queryable } from '../../kernel/db/database.ts'
import { unixSeconds } from '../../kernel/db/sql-parts.ts'
import { HYDRATED_INSERTED, type HydratedRow, toPost } from './hydrate-posts.ts'

export type NewPost = {
  ownerId: string
  /** A session that must be live; null for one that has been checked. */
  sessionId: string | null
  text: string
  idempotencyKey: string | undefined
  repliedId: string | null
}

/** What differs between statements with and without replies. */
type Parts = Record<'allowed' | 'inserted' | 'result', RawBuilder<unknown>>

/**
 * Takes two thirds of the time: a publication on the wall needs nothing of what replies do, and for
 * a lone post each part that is materialised or joined costs more than its rows.
 */
const WITHOUT_REPLIES: Parts = {
  allowed: sql`allowed AS NOT MATERIALIZED (
      SELECT * FROM input WHERE has_owner AND NOT is_blocked
    )`,
  inserted: sql`post AS (
      INSERT INTO posts (id, owner_id, text) OVERRIDING SYSTEM VALUE
      SELECT id, owner_id, text FROM fresh ORDER BY id RETURNING *
    )`,
  result: sql`post.id, post.text, ${unixSeconds('post.created_at')} AS created_at, u.owner_id, username
    FROM input u LEFT JOIN post ON post.id = u.id`,
}

/** What is the same for all posts that were just published and answer none. */
const OF_NEW_ROOT = {
  is_modified: false,
  modified_at: null,
  is_liked: false,
  likes_count: 0,
  replies_count: 0,
  parent_post_id: null,
  replied_post_id: null,
  r_username: null,
}

function withReplies(replied: string): Parts {
  return {
    allowed: sql`replied AS MATERIALIZED (
      SELECT * FROM visible_posts WHERE id = ANY(${replied}::bigint[]) ORDER BY id FOR NO KEY UPDATE
    ), allowed AS MATERIALIZED (
      SELECT input.*, coalesce(replied.parent_post_id, replied.id) AS root_id,
        CASE WHEN replied.owner_id <> input.owner_id AND NOT replied.is_muted THEN replied.owner_id END
          AS recipient_id
      FROM input LEFT JOIN replied ON replied.id = replied_id
      WHERE has_owner AND NOT is_blocked AND (replied_id IS NULL OR replied.id IS NOT NULL)
    )`,
    inserted: sql`recipient AS (
      INSERT INTO answer_states AS state (user_id, last_no)
      SELECT recipient_id, count(*) FROM fresh WHERE recipient_id IS NOT NULL
      GROUP BY recipient_id ORDER BY recipient_id
      ON CONFLICT (user_id) DO UPDATE SET last_no = state.last_no + excluded.last_no
      RETURNING user_id, last_no
    ), post AS (
      INSERT INTO posts (id, owner_id, text, replied_post_id, parent_post_id, recipient_id, received_no)
        OVERRIDING SYSTEM VALUE
      SELECT id, owner_id, text, replied_id, root_id, recipient_id,
        last_no + 1 - row_number() OVER (PARTITION BY recipient_id ORDER BY id DESC)
      FROM fresh LEFT JOIN recipient ON recipient.user_id = recipient_id ORDER BY id RETURNING *
    ), answered AS (
      SELECT id, text, created_at, is_modified, modified_at, owner_id, likes_count, parent_post_id, replied_post_id,
        replies_count + (SELECT count(*)::int FROM post WHERE replied_post_id = replied.id) AS replies_count
      FROM replied
    )`,
    result: sql`hydrated.*
    FROM input u LEFT JOIN post ON post.id = u.id
    LEFT JOIN (${HYDRATED_INSERTED}) hydrated ON hydrated.id = u.id`,
  }
}

/** SQL for the publications. A lone one need not wait until PostgreSQL has taken five arrays apart. */
function rowsOf(posts: NewPost[]): RawBuilder<unknown> {
  const [post, another] = posts
  if (post && !another) {
    const { ownerId, text, idempotencyKey = null, repliedId, sessionId } = post
    return sql`SELECT 1 AS number, ${ownerId}::bigint AS owner_id, ${text}::text AS text,
      ${idempotencyKey}::text AS key, ${repliedId}::bigint AS replied_id, ${sessionId}::uuid AS session_id`
  }
  // The arrays stand in subqueries, or PostgreSQL would plan each call anew, by their lengths.
  return sql`SELECT * FROM unnest((SELECT ${idArray(posts.map(({ ownerId }) => ownerId))}::bigint[]),
      (SELECT ${posts.map(({ text }) => text)}::text[]),
      (SELECT ${posts.map(({ idempotencyKey }) => idempotencyKey ?? null)}::text[]),
      (SELECT ${repliedIds(posts)}::bigint[]), (SELECT ${posts.map(({ sessionId }) => sessionId)}::uuid[])
    ) WITH ORDINALITY i (owner_id, text, key, replied_id, session_id, number)`
}

function repliedIds(posts: NewPost[]): string {
  return idArray(posts.map(({ repliedId }) => repliedId ?? 'NULL'))
}

export type OwnerState = { hasOwner: boolean; isBlocked: boolean | null }
export type Inserted = OwnerState & {
  /** Absent if its owner may not publish, its key was used, or the replied post is not visible. */
  post: Post | undefined
}

/**
 * Publishes posts and replies, with their keys, in one statement. Returns what became of each, in
 * order. A lock that another transaction holds for longer than `lockWaitMs` fails the statement
 * with 55P03; 0 waits as long as a statement may. `mayWrite` judges the `session_id`. A key outlives
 * its post, so that a retry after a deletion finds it. A reply to somebody else takes the next
 * number of its recipient. Rows are locked in this order, each kind by ascending key: owners,
 * replied posts, keys, recipients, and then the totals by the triggers.
 */
export async function insertPosts(
  db: Queryable,
  posts: NewPost[],
  { lockWaitMs, mayWrite }: { lockWaitMs: number; mayWrite: RawBuilder<boolean> },
): Promise<Inserted[]> {
  const owners = idArray(posts.map(({ ownerId }) => ownerId))
  const hasReplies = posts.some(({ repliedId }) => repliedId !== null)
  const { allowed, inserted, result } = hasReplies
    ? withReplies(repliedIds(posts))
    : WITHOUT_REPLIES
  const { rows } = await sql<Omit<Inserted, 'post'> & HydratedRow>`WITH wait AS MATERIALIZED (
      SELECT set_config('lock_timeout', ${String(lockWaitMs)}, true)
    ), author AS MATERIALIZED (
      SELECT id, username, deleted_at, EXISTS (
        SELECT FROM blocks_in_force b WHERE b.user_id = users.id
      ) AS is_blocked
      FROM users WHERE id = ANY((SELECT ${owners}::bigint[] FROM wait)::bigint[]) AND deleted_at IS NULL
      ORDER BY id FOR KEY SHARE
    ), input AS MATERIALIZED (
      SELECT i.*, username, is_blocked, author.id IS NOT NULL AND (session_id IS NULL OR ${mayWrite})
        AS has_owner
      FROM (
        SELECT nextval('posts_id_seq') AS id, i.* FROM (${rowsOf(posts)}) i
      ) i LEFT JOIN author ON author.id = owner_id
    ), ${allowed}, claimed AS (
      INSERT INTO idempotency_keys (owner_id, key, post_id)
      SELECT owner_id, key, id FROM allowed WHERE key IS NOT NULL ORDER BY owner_id, key, number
      ON CONFLICT DO NOTHING RETURNING post_id
    ), fresh AS (
      SELECT * FROM allowed WHERE key IS NULL OR id IN (SELECT post_id FROM claimed)
    ), ${inserted}
    SELECT u.has_owner AS "hasOwner", u.is_blocked AS "isBlocked", ${result}
    ORDER BY u.number`.execute(db)
  return rows.map((row) => {
    const { hasOwner, isBlocked, ...post } = { ...OF_NEW_ROOT, ...row }
    return { hasOwner, isBlocked, post: post.id === null ? undefined : toPost(post) }
  })
}

/** Returns the id of the post published with a key, even if it was deleted later. */
export async function findByIdempotencyKey(
  db: Queryable,
  ownerId: string,
  idempotencyKey: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('idempotency_keys')
    .select('post_id')
    .where('owner_id', '=', ownerId)
    .where('key', '=', idempotencyKey)
    .executeTakeFirst()
  return row?.post_id
}

/** Removes Idempotency-Keys of more than a day ago: no client retries for so long. */
export async function removeOldKeys(db: Queryable): Promise<void> {
  await sql`DELETE FROM idempotency_keys WHERE created_at < now() - interval '1 day'`.execute(db)
}
