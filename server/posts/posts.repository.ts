import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { Post } from '../../contract/posts.ts'
import type { Queryable } from '../db/database.ts'
import { type Archive, archivingCte } from './archive.repository.ts'
import { hydrateInsertedPost } from './hydrate-posts.ts'
import { lockMoves, lockPublished } from './post-locks.ts'
import { WALL_SLOTS } from './wall-slots.ts'

/** A post to publish: its text as `requireText` returned it, and the Idempotency-Key of the request. */
export type NewPost = { ownerId: string; text: string; idempotencyKey: string | undefined }

/** The post a reply answers and the first post of its thread. Both are null on the wall. */
type Parents = { repliedId: string | null; rootId: string | null }
const ON_THE_WALL: Parents = { repliedId: null, rootId: null }

/**
 * CTEs of which the last, `post`, inserts a post, unless its key was used before. The key is a row of its own that outlives
 * the post, so that a retry after a deletion finds it. The key's row contains the post's id, so it draws the id.
 */
function insertingCtes({ ownerId, text, idempotencyKey }: NewPost, { repliedId, rootId }: Parents) {
  if (idempotencyKey === undefined) {
    return sql`post AS (
      INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id)
      VALUES (${ownerId}, ${text}, ${repliedId}, ${rootId}) RETURNING *
    )`
  }
  return sql`claimed AS (
      INSERT INTO idempotency_keys (owner_id, key, post_id)
      VALUES (${ownerId}, ${idempotencyKey}, nextval('posts_id_seq'))
      ON CONFLICT DO NOTHING RETURNING *
    ), post AS (
      INSERT INTO posts (id, owner_id, text, replied_post_id, parent_post_id) OVERRIDING SYSTEM VALUE
      SELECT post_id, owner_id, ${text}, ${repliedId}::bigint, ${rootId}::bigint FROM claimed RETURNING *
    )`
}

/** Adds a post and counts it in one statement. Returns it as its owner sees it, or undefined when its key was used before. */
export function insertPost(db: Queryable, post: NewPost): Promise<Post | undefined> {
  const ctes = sql`${insertingCtes(post, ON_THE_WALL)}, owner AS (
      INSERT INTO owner_totals AS t (user_id, posts) SELECT owner_id, 1 FROM post
      ON CONFLICT (user_id) DO UPDATE SET posts = t.posts + 1
    ), wall AS (
      UPDATE wall_totals t SET posts = t.posts + 1 FROM post WHERE t.slot = ${randomInt(WALL_SLOTS)}
    )`
  return hydrateInsertedPost(db, ctes, { userId: post.ownerId })
}

/** Counts a reply on the replied post, which locks it. Returns the first post of the thread, or undefined without the post. */
export async function countReply(tx: Queryable, repliedId: string): Promise<string | undefined> {
  const row = await tx
    .updateTable('posts')
    .set((eb) => ({ replies_count: eb('replies_count', '+', 1) }))
    .where('id', '=', repliedId)
    .returning((eb) => eb.fn.coalesce('parent_post_id', 'id').as('root'))
    .executeTakeFirst()
  return row?.root
}

export type NewReply = NewPost & { repliedId: string; rootId: string }

/** Adds a reply and counts it for its owner. Returns its id, or undefined when its key was used before. */
export async function insertReply(tx: Queryable, reply: NewReply): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    WITH ${insertingCtes(reply, reply)}, owner AS (
      INSERT INTO owner_totals AS t (user_id, replies) SELECT owner_id, 1 FROM post
      ON CONFLICT (user_id) DO UPDATE SET replies = t.replies + 1
    )
    SELECT id FROM post`.execute(tx)
  return rows[0]?.id
}

/** The id of the post a user has published with a key, even if it was deleted later; undefined where there was none. */
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

export type Edit = { id: string; ownerId: string; text: string; periodSeconds: number }

/** Changes the text of the owner's post within the period, by the database's clock. Returns false when nothing changed. */
export async function updateText(db: Queryable, edit: Edit): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('posts')
    .set({ text: edit.text, is_modified: true })
    .where('id', '=', edit.id)
    .where('owner_id', '=', edit.ownerId)
    .where('text', '!=', edit.text)
    .where('created_at', '>', sql<Date>`now() - ${edit.periodSeconds} * interval '1 second'`)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Reads why an edit changed nothing; undefined when the owner has no such post. */
export function selectEdited(db: Queryable, edit: Edit) {
  return db
    .selectFrom('posts')
    .select('text')
    .select(
      sql<boolean>`created_at <= now() - ${edit.periodSeconds} * interval '1 second'`.as('is_late'),
    )
    .where('id', '=', edit.id)
    .where('owner_id', '=', edit.ownerId)
    .executeTakeFirst()
}

/**
 * Locks a post that is about to be removed, and the replied post, whose count is about to change. Returns false when there is no
 * such post, or it is not `ownerId`'s where that is given.
 */
export async function lockToRemove(tx: Queryable, id: string, ownerId?: string): Promise<boolean> {
  await lockMoves(tx, [id])
  const owner = (await lockPublished(tx, [id])).get(id)
  return owner !== undefined && (ownerId === undefined || owner === ownerId)
}

type Removal = { id: string; archive: Archive; isEvidence: boolean }

/**
 * Removes a post that its caller has locked, archives it, and subtracts it from every count. With `isEvidence` it is archived
 * only if it has open reports, and without its likes. A post with likes is added to `removed_posts`, which takes them out of
 * every list and total until the job `remove-likes` has moved or removed their rows.
 */
export async function removePost(
  tx: Queryable,
  { id, archive, isEvidence }: Removal,
): Promise<{ hasLikes: boolean }> {
  const isKept = isEvidence
    ? sql`EXISTS (SELECT FROM reports WHERE post_id = gone.id AND state = 'open')`
    : sql`true`
  const { rows } = await sql<{ has_likes: boolean }>`
    WITH gone AS (
      DELETE FROM posts WHERE id = ${id} RETURNING *
    ), archived AS (${archivingCte(archive, isKept)}), replied AS (
      UPDATE posts p SET replies_count = p.replies_count - 1
      FROM gone WHERE p.id = gone.replied_post_id
    ), owner AS (
      UPDATE owner_totals t SET
        posts = t.posts - (gone.replied_post_id IS NULL)::int,
        replies = t.replies - (gone.replied_post_id IS NOT NULL)::int
      FROM gone WHERE t.user_id = gone.owner_id
    ), wall AS (
      UPDATE wall_totals t SET posts = t.posts - 1
      FROM gone WHERE t.slot = ${randomInt(WALL_SLOTS)} AND gone.replied_post_id IS NULL
    ), liked AS (
      INSERT INTO removed_posts (post_id, keeps_likes) SELECT gone.id, ${!isEvidence} FROM gone
      WHERE EXISTS (SELECT FROM likes WHERE post_id = gone.id) RETURNING post_id
    )
    SELECT EXISTS (SELECT FROM liked) AS has_likes`.execute(tx)
  return { hasLikes: rows[0]?.has_likes ?? false }
}

/** Locks a post for a change of its likes. Returns their number, or undefined when there is no such post. */
export async function lockPost(tx: Queryable, id: string): Promise<number | undefined> {
  const row = await tx
    .selectFrom('posts')
    .select('likes_count')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row?.likes_count
}

/** Adds to a locked post's number of likes and returns the new number. */
export async function addToLikesCount(tx: Queryable, id: string, change: number): Promise<number> {
  const { likes_count } = await tx
    .updateTable('posts')
    .set((eb) => ({ likes_count: eb('likes_count', '+', change) }))
    .where('id', '=', id)
    .returning('likes_count')
    .executeTakeFirstOrThrow()
  return likes_count
}

export function selectOwner(db: Queryable, id: string) {
  return db.selectFrom('posts').select('owner_id').where('id', '=', id).executeTakeFirst()
}

/** Removes the Idempotency-Keys that are older than a day: no client retries for so long. */
export async function removeOldKeys(db: Queryable): Promise<void> {
  await sql`DELETE FROM idempotency_keys WHERE created_at < now() - interval '1 day'`.execute(db)
}
