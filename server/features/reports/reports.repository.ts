import { sql } from 'kysely'
import type { ReportReason } from '../../../contract/reports.ts'
import { hasRow, type Queryable } from '../../kernel/db/database.ts'

export function selectReasons(db: Queryable): Promise<ReportReason[]> {
  return db.selectFrom('report_reasons').select(['id', 'name']).orderBy('place').execute()
}

export function isReason(db: Queryable, id: string): Promise<boolean> {
  return hasRow(db.selectFrom('report_reasons').select('id').where('id', '=', id))
}

export type NewReport = {
  postId: string
  reporterId: string
  reasonId: string
  comment: string | null
}

/**
 * Adds a report with the post as it is now, unless the reporter has an open one for the same
 * reason, or a moderator has kept or restored this very text. Returns whether it was added.
 */
export async function insertReport(db: Queryable, report: NewReport): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO reports (post_id, reporter_id, reason_id, comment, author_id, post_text, posted_at)
    SELECT p.id, ${report.reporterId}, ${report.reasonId}, ${report.comment}, p.owner_id, p.text, p.created_at
    FROM visible_posts p WHERE p.id = ${report.postId} AND NOT EXISTS (
      SELECT FROM reports kept
      WHERE kept.post_id = p.id AND kept.state = 'kept' AND kept.post_text = p.text
    ) AND NOT EXISTS (
      SELECT FROM journal kept
      WHERE kept.post_id = p.id AND kept.action IN ('post.keep', 'post.restore') AND kept.details->>'text' = p.text
    )
    ON CONFLICT (post_id, reporter_id, reason_id) WHERE state = 'open' DO NOTHING`.execute(db)
  return numAffectedRows === 1n
}

export function isReported(db: Queryable, id: string): Promise<boolean> {
  const reports = db.selectFrom('reports').select('id').where('post_id', '=', id)
  return hasRow(reports.where('state', '=', 'open').limit(1))
}
