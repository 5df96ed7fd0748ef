import { type RawBuilder, sql } from 'kysely'
import type { PostBody } from '../../../contract/posts.ts'
import { idArray, type Queryable, unixSeconds } from '../../kernel/db/database.ts'

export type NewPost = {
  written: Required<PostBody>
  ownerId: string
  /** The session that must be live; null if it has been checked. */
  sessionId: string | null
  idempotencyKey: string | undefined
  repliedId: string | null
}

export type Published = {
  refusal: null
  id: string
  created_at: number
  username: string
  /** The author of the replied post. */
  replied_owner_id: string | null
}
const CREATED_AT = unixSeconds('now()')

type Refused = { refusal: 'UNAUTHORIZED' | 'BLOCKED' | 'POST_NOT_FOUND' | 'KEY_USED' }

/**
 * Publishes posts and returns their outcomes, in order. If another transaction holds a lock longer
 * than `lockWaitMs` (0: no limit), all fail with 55P03. `mayWrite` is SQL about a `session_id`.
 */
export async function insertPosts(
  db: Queryable,
  posts: NewPost[],
  { lockWaitMs, mayWrite }: { lockWaitMs: number; mayWrite: RawBuilder<boolean> },
): Promise<(Published | Refused)[]> {
  const { rows } = await sql<Published | Refused>`
    SELECT id, ${CREATED_AT} AS created_at, username, replied_owner_id, refusal
    FROM publish_posts(
      ${idArray(posts.map(({ ownerId }) => ownerId))}::bigint[],
      ARRAY(SELECT session_id IS NULL OR ${mayWrite}
        FROM unnest(${posts.map(({ sessionId }) => sessionId)}::uuid[]) WITH ORDINALITY AS s (session_id, place)
        ORDER BY place),
      ${posts.map(({ written }) => written.text)}::text[],
      ${posts.map(({ idempotencyKey }) => idempotencyKey ?? null)}::text[],
      ${idArray(posts.map(({ repliedId }) => repliedId ?? 'NULL'))}::bigint[],
      ${lockWaitMs}::int)
    ORDER BY place`.execute(db)
  return rows
}

/** Returns the id of the post published with a key, even if it was deleted later. */
export async function findByIdempotencyKey(
  db: Queryable,
  ownerId: string,
  idempotencyKey: string,
): Promise<string | undefined> {
  const key = db.selectFrom('idempotency_keys').select('post_id').where('key', '=', idempotencyKey)
  return (await key.where('owner_id', '=', ownerId).executeTakeFirst())?.post_id
}

/** Removes Idempotency-Keys that are older than a day: no client retries for longer. */
export async function removeOldKeys(db: Queryable): Promise<void> {
  await sql`DELETE FROM idempotency_keys WHERE created_at < now() - interval '1 day'`.execute(db)
}
