import type { Db } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { applyReportRules, type ReportRules } from '../moderation/moderation.service.ts'
import { lockPost } from '../posts/posts.service.ts'
import { insertReport, type NewReport } from './reports.repository.ts'

/**
 * Adds reports of one post one after another, so that each counts the others. Returns whether the
 * post was hidden. Throws POST_NOT_FOUND.
 */
export function addReport(db: Db, report: NewReport, rules: ReportRules): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const post = await lockPost(tx, report.postId)
    if (post?.hidden_for !== null) throw new AppError('POST_NOT_FOUND')
    const isNew = await insertReport(tx, report)
    return isNew && applyReportRules(tx, report.postId, rules)
  })
}
