import type { Db } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { followReport, type ReportRules } from '../moderation/moderation.service.ts'
import { lockPost } from '../posts/posts.service.ts'
import { insertReport, type NewReport } from './reports.repository.ts'

/**
 * Adds a report, which may hide the post. Reports of one post are added one after another, so that
 * each of them counts the others. Returns whether the post was hidden. Throws POST_NOT_FOUND.
 */
export function addReport(db: Db, report: NewReport, rules: ReportRules): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const post = await lockPost(tx, report.postId)
    if (post?.hidden_for !== null) throw new AppError('POST_NOT_FOUND')
    const isNew = await insertReport(tx, report)
    return isNew && followReport(tx, report.postId, rules)
  })
}
