import * as calls from '../../../contract/reports.ts'
import { isVisible, parsePostText } from '../../../contract/text.ts'
import { isRowId, limitLockWait } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { applyReportRules } from '../moderation/hiding.service.ts'
import { lockPost } from '../posts/posts.service.ts'
import { insertReport, isReason, selectReasons } from './reports.repository.ts'

/** Prevents one account, or new ones of one mailbox, from burying the reports of all others. */
const REPORTS: Limit = {
  name: 'report',
  rates: [[30, 3600]],
  refusal: 'Вы отправили много жалоб: следующая — через {time}',
  isShared: true,
}

export function registerReports(context: ServerContext): void {
  const { route, db, limits, lockWaitMs, config, publishChange } = context
  route(calls.listReasons, async () => ({ reasons: await selectReasons(db) }))

  route(calls.reportPost, async ({ params: { id: postId }, query, body, viewer }) => {
    const { userId: reporterId, newcomer } = viewer
    const { reason_id: reasonId } = query
    const isHidden = await db.transaction().execute(async (tx) => {
      await limitLockWait(tx, lockWaitMs)
      // Reports of one post are added one after another, so that each counts the others.
      const post = await lockPost(tx, postId)
      if (post?.hidden_for !== null) throw new AppError('POST_NOT_FOUND')
      if (post.owner_id === reporterId) {
        throw new AppError('INVALID_REQUEST', { message: 'На свою запись пожаловаться нельзя' })
      }
      if (!isRowId(reasonId) || !(await isReason(tx, reasonId)))
        throw new AppError('REASON_NOT_FOUND')
      const comment = parseComment(body.comment)
      await limits.charge([{ limit: REPORTS, key: newcomer?.mailbox ?? reporterId }], tx)
      const isNew = await insertReport(tx, { postId, reporterId, reasonId, comment })
      return isNew && applyReportRules(tx, post, config)
    })
    if (isHidden) await publishChange({ kind: 'removed', postId })
  })
}

/** Returns null for an invisible comment. Throws INVALID_REQUEST for a comment that is not valid. */
function parseComment(raw: string | undefined): string | null {
  if (raw === undefined || !isVisible(raw)) return null
  const comment = parsePostText(raw)
  if (comment === null) {
    throw new AppError('INVALID_REQUEST', { message: 'В пояснении есть недопустимые символы' })
  }
  return comment
}
