import { createReply, listOwnReplies, listReplies } from '../../contract/replies.ts'
import { isRowId } from '../db/row-id.ts'
import type { Features } from '../features.ts'
import { AppError } from '../http/app-error.ts'
import { isRetry, publishReply, readPostList, requireText } from '../posts/posts.service.ts'
import { repliesOf, repliesTo } from './replies.repository.ts'

export function registerReplies({ route, db, limits, changed }: Features): void {
  route(listOwnReplies, ({ query, viewer }) =>
    readPostList(db, repliesOf(viewer.userId), query, viewer),
  )

  route(listReplies, async ({ params, query, viewer }) => {
    if (!isRowId(params.id)) throw new AppError('POST_NOT_FOUND')
    return readPostList(db, repliesTo(params.id), query, viewer)
  })

  route(createReply, async ({ params, body, headers, viewer }) => {
    const text = requireText(body.text)
    const draft = { ownerId: viewer.userId, text, key: headers['idempotency-key'] }
    if (!(await isRetry(db, draft))) await limits.publications.charge(viewer.userId)
    const { post, isNew } = await publishReply(db, params.id, draft)
    if (isNew) await changed('posts')
    return post
  })
}
