import { sql } from 'kysely'
import type { PostBody } from '../../../contract/posts.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import type { HydratedRow } from './hydrate-posts.ts'

export type NewPost = {
  written: Required<PostBody>
  ownerId: string
  idempotencyKey: string | undefined
  repliedId: string | null
}

/** `r_owner_id` is the author of the replied post. */
type Inserted = { refusal: null } & HydratedRow
type Refused = { refusal: 'UNAUTHORIZED' | 'BLOCKED' | 'POST_NOT_FOUND' | 'KEY_USED' }

/** Inserts a post with its Idempotency-Key, or returns why not. KEY_USED: the key has a post. */
export async function insertPost(
  db: Queryable,
  { written, ownerId, idempotencyKey, repliedId }: NewPost,
  lockWaitMs: number,
): Promise<Inserted | Refused> {
  const values = [ownerId, written.text, idempotencyKey ?? null, repliedId, lockWaitMs]
  const { rows } = await sql<Inserted | Refused>`
    SELECT refusal, (published).*, false AS is_liked, is_replied_liked AS r_is_liked
    FROM insert_post(${sql.join(values)})`.execute(db)
  return rows[0] ?? { refusal: 'POST_NOT_FOUND' }
}

/** Returns the id of the post published with a key, even if it was deleted later. */
export async function findByIdempotencyKey(
  db: Queryable,
  { ownerId, idempotencyKey }: Pick<NewPost, 'ownerId' | 'idempotencyKey'>,
): Promise<string | undefined> {
  if (idempotencyKey === undefined) return undefined
  const key = db.selectFrom('idempotency_keys').select('post_id').where('key', '=', idempotencyKey)
  return (await key.where('owner_id', '=', ownerId).executeTakeFirst())?.post_id
}

/** Removes Idempotency-Keys that are older than a day: no client retries for longer. */
export async function removeOldKeys(db: Queryable): Promise<void> {
  await sql`DELETE FROM idempotency_keys WHERE created_at < now() - interval '1 day'`.execute(db)
}
