import { createReply, listOwnReplies, listReplies } from '../../contract/replies.ts'
import type { Db } from '../db/database.ts'
import { isRowId } from '../db/row-id.ts'
import { AppError } from '../http/app-error.ts'
import type { Route } from '../http/route.ts'
import {
  isRetry,
  publishReply,
  readOwnReplies,
  readReplies,
  requireText,
} from '../posts/posts.service.ts'
import type { Limits } from '../rate-limits/rate-limits.ts'

type Options = {
  route: Route
  db: Db
  limits: Pick<Limits, 'publications'>
  /** Invalidates cached reads on every node. To be awaited after a commit and before its answer. */
  invalidate: () => Promise<void>
}

export function registerReplies({ route, db, limits, invalidate }: Options): void {
  route(listOwnReplies, ({ query, viewer }) => readOwnReplies(db, query, viewer))

  route(listReplies, async ({ params: { id }, query, viewer }) => {
    if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
    return readReplies(db, id, { query, viewer })
  })

  route(createReply, async ({ params, body, headers, viewer }) => {
    const text = requireText(body.text)
    const input = { ownerId: viewer.userId, text, key: headers['idempotency-key'] }
    if (!(await isRetry(db, input))) await limits.publications.charge(viewer.userId)
    const { post, isNew } = await publishReply(db, params.id, input)
    if (isNew) await invalidate()
    return post
  })
}
