import type { Post } from '../../../contract/posts.ts'
import type { Change } from '../../kernel/cache/change.ts'
import { batchWrites, type Written } from '../../kernel/db/batch-writes.ts'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Viewer } from '../../kernel/http/authenticate.ts'
import type { NoteAccess } from '../../kernel/journal/access-journal.ts'
import {
  chargePublication,
  type PublicationLimits,
} from '../../kernel/limits/publication-limits.ts'
import type { Charged } from '../../kernel/limits/rate-limits.ts'
import { requirePost, requireText } from './posts.service.ts'
import {
  findByIdempotencyKey,
  type Inserted,
  insertPosts,
  type NewPost,
} from './publications.repository.ts'

type Options = {
  db: Db
  limits: PublicationLimits
  /** Invalidates cached reads on every node after a commit. */
  publishChange: (change: Change) => Promise<void>
  noteAccess: NoteAccess | undefined
  /** Publications that share a statement wait no longer for a lock of another transaction; 250 ms unless set. */
  lockWaitMs?: number
}

/** A post, and the call that publishes it. */
type Submitted = NewPost & Pick<Parameters<NoteAccess>[1], 'request'>

type Publication = Omit<Submitted, 'ownerId'> & { viewer: Viewer }

/** Publishes a post or a reply, as a call asks for it. */
export type Publish = (publication: Publication) => Promise<Post>

/**
 * Makes the function that publishes posts and replies within the limits, and notes from where. Calls that come while others
 * are being published share the next statement and its commit, and are answered after it. A retry with a known
 * Idempotency-Key returns the post of the first call and is not charged. The function rejects with POST_NOT_FOUND when that
 * post or the replied one does not exist any more, with INVALID_REQUEST for a text that may not be published, and with
 * TOO_MANY_REQUESTS or BLOCKED.
 */
export function createPublish({
  db,
  limits,
  publishChange,
  noteAccess,
  lockWaitMs = 250,
}: Options): Publish {
  const insert = batchWrites({
    keyOf: () => 'all posts',
    async write(posts: Submitted[], mayWait): Promise<Written<Inserted>> {
      const lockMs = mayWait ? 0 : lockWaitMs
      // One statement needs no transaction around it, which would cost two round trips.
      const results = noteAccess
        ? await db.transaction().execute((tx) => insertNoted(tx, { posts, lockMs, noteAccess }))
        : await insertPosts(db, posts, lockMs)
      return { results, isChanged: results.some(({ post }) => post) }
    },
    invalidate: () => publishChange('posts added'),
  })

  /** Throws what `refusalOf` returns where the post is not published. */
  async function insertOne(newPost: Submitted): Promise<Post> {
    if (newPost.repliedId !== null && !isRowId(newPost.repliedId)) {
      throw new AppError('POST_NOT_FOUND')
    }
    const inserted = await insert(newPost)
    if (!inserted.post) throw refusalOf(inserted)
    return inserted.post
  }

  return async ({ viewer, text, ...rest }) => {
    const newPost = { ownerId: viewer.userId, text: requireText(text), ...rest }
    let charged: Charged | undefined
    try {
      charged = await chargePublication(limits, viewer)
      return await insertOne(newPost)
    } catch (error) {
      // A key is not looked up ahead: a retry is refused first, by the limit or by its key, and only then looked for.
      const id = error instanceof AppError && (await findPublished(db, newPost))
      if (!id) throw error
      await charged?.refund()
      return requirePost(db, id, viewer)
    }
  }
}

/** Publishes posts, and notes in the same transaction where each comes from. */
async function insertNoted(
  tx: Queryable,
  { posts, lockMs, noteAccess }: { posts: Submitted[]; lockMs: number; noteAccess: NoteAccess },
): Promise<Inserted[]> {
  const results = await insertPosts(tx, posts, lockMs)
  const published = posts.flatMap(({ ownerId, request }, at) => {
    const postId = results[at]?.post?.id
    return postId ? [{ action: 'publish' as const, userId: ownerId, postId, request }] : []
  })
  await noteAccess(tx, ...published)
  return results
}

function refusalOf({ hasOwner, isBlocked }: Inserted): AppError {
  if (!hasOwner) return new AppError('UNAUTHORIZED')
  return new AppError(isBlocked ? 'BLOCKED' : 'POST_NOT_FOUND')
}

/** The id of the post that its owner has published with the same key, if there is one. */
async function findPublished(db: Db, { ownerId, idempotencyKey }: NewPost) {
  return idempotencyKey && findByIdempotencyKey(db, ownerId, idempotencyKey)
}
