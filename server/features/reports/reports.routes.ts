import { listReasons, reportPost } from '../../../contract/reports.ts'
import { parsePostText } from '../../../contract/text.ts'
import { type Db, isRowId } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Node } from '../../kernel/feature.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { applyReportRules, type ReportRules } from '../moderation/moderation.service.ts'
import { lockPost, requireOwner } from '../posts/posts.service.ts'
import { insertReport, isReason, type NewReport, selectReasons } from './reports.repository.ts'

/** So that one account cannot hide the reports of all others. */
const REPORTS: Limit = {
  name: 'report',
  rates: [[30, 3600]],
  refusal: 'Вы отправили много жалоб: следующая — через {time}',
  isShared: true,
}

export function registerReports({ route, db, limits, config, publishChange }: Node): void {
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
    if (await addReport(db, report, config)) {
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

/**
 * Adds reports of one post one after another, so that each counts the others. Returns whether the
 * post was hidden. Throws POST_NOT_FOUND.
 */
function addReport(db: Db, report: NewReport, rules: ReportRules): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const post = await lockPost(tx, report.postId)
    if (post?.hidden_for !== null) throw new AppError('POST_NOT_FOUND')
    const isNew = await insertReport(tx, report)
    return isNew && applyReportRules(tx, report.postId, rules)
  })
}
