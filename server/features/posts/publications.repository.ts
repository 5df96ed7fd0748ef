import { sql } from 'kysely'
import { namesIn } from '../../../contract/mention-rules.ts'
import type { PostBody } from '../../../contract/posts.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import type { HydratedRow } from './hydrate-posts.ts'

export type NewPost = {
  written: Required<PostBody>
  ownerId: string
  idempotencyKey: string | undefined
  repliedId: string | null
}

/** `r_owner_id` is the author of the replied post; `told` are the users who are told of a mention. */
type Inserted = { refusal: null; told: string[] } & HydratedRow
type Refused = { refusal: 'UNAUTHORIZED' | 'BLOCKED' | 'POST_NOT_FOUND' | 'KEY_USED' }

/**
 * Inserts a post with its Idempotency-Key, or returns why not. KEY_USED: the key has a post. The
 * second row is the clarification of the replied post, if it has one.
 */
export async function insertPost(
  db: Queryable,
  { written, ownerId, idempotencyKey, repliedId }: NewPost,
  lockWaitMs: number,
): Promise<[Inserted | Refused, HydratedRow | undefined]> {
  const names = namesIn(written.text)
  const values = [ownerId, written.text, idempotencyKey ?? null, repliedId, lockWaitMs, names]
  const { rows } = await sql<Inserted & { isClarification: boolean }>`
    WITH inserted AS MATERIALIZED (SELECT * FROM insert_post(${sql.join(values)}))
    SELECT false AS "isClarification", refusal, (published).*, false AS is_liked,
      is_replied_liked AS r_is_liked, mentions, replied_mentions AS r_mentions, told,
      NULL AS clarification_id, NULL AS r_clarification_id
    FROM inserted
    UNION ALL
    SELECT true, NULL, (c.shown).*, c.is_liked, NULL, c.mentions, NULL, NULL, NULL, NULL
    FROM inserted
    CROSS JOIN LATERAL clarification_of((published).r_id, ${ownerId}::bigint) c`.execute(db)
  const [post, clarification] = [false, true].map((it) =>
    rows.find(({ isClarification }) => isClarification === it),
  )
  return [post ?? { refusal: 'POST_NOT_FOUND' }, clarification]
}

type OwnPost = { id: string; ownerId: string }

/** Returns what keeps a visible post from being clarified by its owner; undefined if it is none. */
export async function selectClarifiable(
  db: Queryable,
  { id, ownerId, periodSeconds }: OwnPost & { periodSeconds: number },
): Promise<{ isEditable: boolean; isClarification: boolean } | undefined> {
  const { rows } = await sql<{ isEditable: boolean; isClarification: boolean }>`
    SELECT created_at > now() - ${periodSeconds} * interval '1 second' AS "isEditable",
      EXISTS (SELECT FROM posts replied
        WHERE replied.id = p.replied_post_id AND replied.clarification_id = p.id) AS "isClarification"
    FROM visible_posts p WHERE id = ${id} AND owner_id = ${ownerId}`.execute(db)
  return rows[0]
}

/** Puts a reply under its post, or nothing. Returns whether that has changed something. */
export async function setClarification(
  db: Queryable,
  { id, ownerId }: OwnPost,
  replyId: string | null,
): Promise<boolean> {
  const { numAffectedRows } = await sql`UPDATE posts SET clarification_id = ${replyId}
    WHERE id = ${id} AND owner_id = ${ownerId} AND hidden_for IS NULL
      AND clarification_id IS DISTINCT FROM ${replyId}`.execute(db)
  return numAffectedRows === 1n
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
