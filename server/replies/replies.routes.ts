import type { PostPage } from '../../contract/posts.ts'
import { createReply, listOwnReplies, listReplies } from '../../contract/replies.ts'
import { type Db, isRowId } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { type ListQuery, listUrl, type Route } from '../http/route.ts'
import type { NoteAccess } from '../journal/access-journal.ts'
import {
  isRetry,
  publishReply,
  readPostList,
  repliesOf,
  repliesTo,
  requireText,
} from '../posts/posts.service.ts'
import { chargePublication, type PublicationLimits } from '../rate-limits/rate-limits.ts'
import type { Change } from '../response-cache/cache.ts'
import type { VisitorReads } from '../response-cache/response-cache.ts'

type Options = {
  route: Route
  db: Db
  limits: PublicationLimits
  /** Invalidates cached reads on every node. To be awaited after a commit and before its answer. */
  invalidate: (change: Change) => Promise<void>
  noteAccess: NoteAccess
}

export function registerReplies({ route, db, limits, invalidate, noteAccess }: Options): void {
  route(listOwnReplies, ({ query, viewer }) =>
    readPostList(db, repliesOf(viewer.userId), query, viewer),
  )

  route(listReplies, async ({ params: { id }, query, viewer }) => {
    if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
    return readPostList(db, repliesTo(id), query, viewer)
  })

  route(createReply, async ({ params, body, headers, viewer }, { request }) => {
    const text = requireText(body.text)
    const newPost = { ownerId: viewer.userId, text, idempotencyKey: headers['idempotency-key'] }
    if (!(await isRetry(db, newPost))) await chargePublication(limits, viewer)
    const { post, isNew } = await publishReply(db, params.id, newPost)
    if (isNew) {
      await invalidate('posts added')
      await noteAccess(request, { action: 'publish', userId: viewer.userId, postId: post.id })
    }
    return post
  })
}

/**
 * Reads a page of the replies to a post as any visitor sees it. It shares the cached response of the API call with the same
 * query. Throws POST_NOT_FOUND, and INVALID_REQUEST for a malformed cursor.
 */
export async function readRepliesForPage(
  { db, readAsVisitor }: VisitorReads,
  postId: string,
  query: ListQuery,
): Promise<PostPage> {
  if (!isRowId(postId)) throw new AppError('POST_NOT_FOUND')
  const url = listUrl(listReplies.path.replace(':id', postId), query)
  const read = () => readPostList(db, repliesTo(postId), query, null)
  return readAsVisitor({ endpoint: listReplies, url }, read)
}
