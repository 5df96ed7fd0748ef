import type { PostPage } from '../../contract/posts.ts'
import { createReply, listOwnReplies, listReplies } from '../../contract/replies.ts'
import { type Db, isRowId } from '../db/database.ts'
import type { RunRead } from '../db/replica.ts'
import { AppError } from '../http/app-error.ts'
import { type ListQuery, listUrl, type Route } from '../http/route.ts'
import { readPostList, repliesOf, repliesTo } from '../posts/posts.service.ts'
import type { Publish } from '../posts/publications.service.ts'
import type { VisitorReads } from '../response-cache/response-cache.ts'

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
    return runRead((from) => readPostList(from, repliesTo(id), query, viewer))
  })

  route(createReply, ({ params, body, headers, viewer }, { request }) => {
    const idempotencyKey = headers['idempotency-key']
    return publish({ viewer, request, text: body.text, idempotencyKey, repliedId: params.id })
  })
}

/**
 * Reads a page of the replies to a post as any visitor sees it. It shares the cached response of the API call with the same
 * query. Throws POST_NOT_FOUND, and INVALID_REQUEST for a malformed cursor.
 */
export async function readRepliesForPage(
  { runRead, readAsVisitor }: VisitorReads,
  postId: string,
  query: ListQuery,
): Promise<PostPage> {
  if (!isRowId(postId)) throw new AppError('POST_NOT_FOUND')
  const url = listUrl(listReplies.path.replace(':id', postId), query)
  const read = () => runRead((db) => readPostList(db, repliesTo(postId), query, null))
  return readAsVisitor({ endpoint: listReplies, url }, read)
}
