import type { PostPage } from '../../../contract/posts.ts'
import { createReply, listOwnReplies, listReplies } from '../../../contract/replies.ts'
import { type Db, isRowId } from '../../kernel/db/database.ts'
import type { RunRead } from '../../kernel/db/replica.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { ListQuery, Route } from '../../kernel/http/route.ts'
import { readPostList, repliesOf, repliesTo } from '../posts/post-lists.ts'
import type { Publish } from '../posts/publications.service.ts'

type Options = {
  route: Route
  db: Db
  runRead: RunRead
  publish: Publish
}

export function registerReplies({ route, db, runRead, publish }: Options): void {
  route(listOwnReplies, ({ query, viewer }) =>
    readPostList(db, repliesOf(viewer.userId), query, viewer),
  )

  route(listReplies, async ({ params: { id }, query, viewer }) => {
    if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
    return runRead(viewer, (from) => readPostList(from, repliesTo(id), query, viewer))
  })

  route(createReply, ({ params, body, headers, viewer }, { request }) => {
    const idempotencyKey = headers['idempotency-key']
    return publish({ viewer, request, text: body.text, idempotencyKey, repliedId: params.id })
  })
}

/**
 * Reads a page of the replies to a post as any visitor sees it. Throws POST_NOT_FOUND, and
 * INVALID_REQUEST for a malformed cursor. /
 */
export async function readRepliesForPage(
  runRead: RunRead,
  postId: string,
  query: ListQuery,
): Promise<PostPage> {
  if (!isRowId(postId)) throw new AppError('POST_NOT_FOUND')
  return runRead(null, (db) => readPostList(db, repliesTo(postId), query, null))
}
