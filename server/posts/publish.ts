import type { Post } from '../../contract/posts.ts'
import { parsePostText } from '../../contract/text.ts'
import type { Db } from '../db/open.ts'
import { isRowId } from '../db/row-id.ts'
import { AppError } from '../http/app-error.ts'
import { selectPost } from './post-views.store.ts'
import {
  countReply,
  findByIdempotencyKey,
  insertPost,
  insertReply,
  type NewPost,
} from './posts.store.ts'

/** A post to publish: its text as `requireText` returned it, and the Idempotency-Key. */
export type Draft = { ownerId: string; text: string; key: string | undefined }

/** Whether a user has published under this Idempotency-Key before: then it is a retry, and publishes nothing. */
export async function isRetry(
  db: Db,
  { ownerId, key }: Pick<Draft, 'ownerId' | 'key'>,
): Promise<boolean> {
  if (key === undefined) return false
  return (await findByIdempotencyKey(db, { ownerId, idempotencyKey: key })) !== undefined
}

/** Publishes a post on the wall, or gives the one published with the same key. */
export async function publishPost(db: Db, draft: Draft): Promise<Post> {
  const post = toNewPost(draft)
  return (await insertPost(db, post)) ?? published(db, post)
}

/** Publishes a reply, likewise. Throws POST_NOT_FOUND when the answered post is gone. */
export async function publishReply(db: Db, repliedId: string, draft: Draft): Promise<Post> {
  const post = toNewPost(draft)
  if (!isRowId(repliedId)) throw new AppError('POST_NOT_FOUND')
  const id = await db
    .transaction()
    .execute(async (tx) => {
      const rootId = await countReply(tx, repliedId)
      if (rootId === undefined) throw new AppError('POST_NOT_FOUND')
      const replyId = await insertReply(tx, { ...post, repliedId, rootId })
      // The reply is there already: its parent must not count it twice.
      if (replyId === undefined) throw new KeyUsed()
      return replyId
    })
    .catch(async (error: unknown) => {
      const isRetry = error instanceof KeyUsed || error instanceof AppError
      if (isRetry && post.idempotencyKey && (await findByIdempotencyKey(db, post))) return undefined
      throw error
    })
  return published(db, post, id)
}

class KeyUsed extends Error {}

/** The text as it is stored, asked for before a limit is charged. Throws INVALID_REQUEST when it may not be published. */
export function requireText(raw: string): string {
  const text = parsePostText(raw)
  if (text === null) {
    throw new AppError('INVALID_REQUEST', {
      message: 'Текст записи — от 1 до 500 видимых символов',
    })
  }
  return text
}

function toNewPost({ ownerId, text, key }: Draft): NewPost {
  return { ownerId, text, idempotencyKey: key ?? null }
}

/** A post that was just inserted, or where none was, the one published with the same key. */
async function published(db: Db, post: NewPost, id?: string): Promise<Post> {
  const found = id ?? (await findByIdempotencyKey(db, post))
  const view = found && (await selectPost(db, found, { userId: post.ownerId }))
  if (!view) throw new AppError('POST_NOT_FOUND')
  return view
}
