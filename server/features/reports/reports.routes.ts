import { listReasons, reportPost } from '../../../contract/reports.ts'
import { parsePostText } from '../../../contract/text.ts'
import type { PublishChange } from '../../kernel/cache/change.ts'
import { type Db, isRowId } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Route } from '../../kernel/http/route.ts'
import type { Limits } from '../../kernel/limits/limits.ts'
import { REPORTS, type ReportRules } from '../moderation/moderation.service.ts'
import { requireOwner } from '../posts/posts.service.ts'
import { isReason, selectReasons } from './reports.repository.ts'
import { addReport } from './reports.service.ts'

type Options = {
  route: Route
  db: Db
  limits: Limits
  rules: ReportRules
  publishChange: PublishChange
}

export function registerReports({ route, db, limits, rules, publishChange }: Options): void {
  route(listReasons, async () => ({ reasons: await selectReasons(db) }))

  route(reportPost, async ({ params, query, body, viewer }) => {
    const ownerId = await requireOwner(db, params.id)
    if (ownerId === viewer.userId) {
      throw new AppError('INVALID_REQUEST', { message: 'На свою запись пожаловаться нельзя' })
    }
    const reasonId = query.reason_id
    if (!isRowId(reasonId) || !(await isReason(db, reasonId)))
      throw new AppError('REASON_NOT_FOUND')
    await limits.charge([{ limit: REPORTS, key: viewer.userId }])
    const comment = parseComment(body.comment)
    const report = { postId: params.id, reporterId: viewer.userId, reasonId, comment }
    if (await addReport(db, report, rules)) {
      await publishChange({ kind: 'removed', postId: params.id })
    }
  })
}

/** A comment without anything visible counts as none. Throws INVALID_REQUEST. */
function parseComment(raw: string | undefined): string | null {
  if (raw === undefined || raw.trim() === '') return null
  const comment = parsePostText(raw)
  if (comment === null) throw new AppError('INVALID_REQUEST')
  return comment
}
