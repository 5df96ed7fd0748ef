import type { Post } from '../../contract/posts.ts'
import { parsePostText } from '../../contract/text.ts'
import type { Db } from '../db/database.ts'
import { isRowId } from '../db/row-id.ts'
import { AppError } from '../http/app-error.ts'
import { selectPost } from './hydrate-posts.ts'
import {
  countReply,
  findByIdempotencyKey,
  insertPost,
  insertReply,
  type NewPost,
} from './posts.repository.ts'

/** A post to publish: its text as `requireText` returned it, and the Idempotency-Key. */
export type Draft = { ownerId: string; text: string; key: string | undefined }

/** Whether a user has published under this Idempotency-Key before: then it is a retry, and publishes nothing. */
export async function isRetry(
  db: Db,
  { ownerId, key }: Pick<Draft, 'ownerId' | 'key'>,
): Promise<boolean> {
  if (key === undefined) return false
  return (await findByIdempotencyKey(db, ownerId, key)) !== undefined
}

/** A post, and whether it was published just now: a retry gives the one that was. */
type Published = { post: Post; isNew: boolean }

/**
 * Publishes a post on the wall, or finds the one published with the same key. Throws POST_NOT_FOUND when that
 * was deleted meanwhile.
 */
export async function publishPost(db: Db, draft: Draft): Promise<Published> {
  const newPost = toNewPost(draft)
  const post = await insertPost(db, newPost)
  return post ? { post, isNew: true } : { post: await findPublished(db, newPost), isNew: false }
}

/** Publishes a reply, likewise. Throws POST_NOT_FOUND also when the answered post is gone. */
export async function publishReply(db: Db, repliedId: string, draft: Draft): Promise<Published> {
  const newPost = toNewPost(draft)
  if (!isRowId(repliedId)) throw new AppError('POST_NOT_FOUND')
  const id = await db
    .transaction()
    .execute(async (tx) => {
      const rootId = await countReply(tx, repliedId)
      if (rootId === undefined) throw new AppError('POST_NOT_FOUND')
      const replyId = await insertReply(tx, { ...newPost, repliedId, rootId })
      // The reply was there already: its parent must not count it twice.
      if (replyId === undefined) throw new KeyUsed()
      return replyId
    })
    .catch((error: unknown) => {
      // The answered post may be gone by the time of a retry.
      if (error instanceof KeyUsed || error instanceof AppError) return undefined
      throw error
    })
  if (id === undefined) return { post: await findPublished(db, newPost), isNew: false }
  return { post: await view(db, id, newPost.ownerId), isNew: true }
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

/** The post that its owner has published with the same key. Throws POST_NOT_FOUND where there is none any more. */
async function findPublished(db: Db, { ownerId, idempotencyKey }: NewPost): Promise<Post> {
  const id = idempotencyKey && (await findByIdempotencyKey(db, ownerId, idempotencyKey))
  if (!id) throw new AppError('POST_NOT_FOUND')
  return view(db, id, ownerId)
}

async function view(db: Db, id: string, userId: string): Promise<Post> {
  const post = await selectPost(db, id, { userId })
  if (!post) throw new AppError('POST_NOT_FOUND')
  return post
}
