import { ANCESTORS_MAX } from '../../../contract/constants.ts'
import * as calls from '../../../contract/replies.ts'
import { isRowId, NO_USER } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { readAncestors } from '../posts/hydrate-posts.ts'
import { readPostList, repliesOf, repliesTo } from '../posts/post-lists.ts'
import type { Publish } from '../posts/publications.service.ts'

export function registerReplies({ route, db }: ServerContext, publish: Publish): void {
  route(calls.listRepliesOf, async ({ query, viewer }, { request: { ip } }) => {
    const { userId = viewer?.userId, ...page } = query
    if (userId === undefined) throw new AppError('UNAUTHORIZED')
    const list = repliesOf(isRowId(userId) ? userId : NO_USER)
    return readPostList(db, list, { ...page, ip }, viewer)
  })

  route(calls.listReplies, async ({ params: { id }, query, viewer }, { request: { ip } }) => {
    if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
    return readPostList(db, repliesTo(id), { ...query, ip }, viewer)
  })

  route(calls.listAncestors, ({ params: { id }, query: { limit = ANCESTORS_MAX }, viewer }) =>
    readAncestors(db, { id, limit }, viewer),
  )

  route(calls.createReply, ({ params, body, headers, viewer }, { request }) => {
    const idempotencyKey = headers['idempotency-key']
    return publish({ viewer, request, body, idempotencyKey, repliedId: params.id })
  })
}
