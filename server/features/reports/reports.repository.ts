import { sql } from 'kysely'
import type { ReportReason } from '../../../contract/reports.ts'
import { hasRow, type Queryable } from '../../kernel/db/database.ts'

export function selectReasons(db: Queryable): Promise<ReportReason[]> {
  return db.selectFrom('report_reasons').select(['id', 'name']).orderBy('place').execute()
}

export function isReason(db: Queryable, id: string): Promise<boolean> {
  return hasRow(db.selectFrom('report_reasons').select('id').where('id', '=', id))
}

type NewReport = {
  postId: string
  reporterId: string
  reasonId: string
  comment: string | null
}

/**
 * Adds a report, unless the reporter has an open report for the same reason or a moderator has kept
 * this very text. The lock makes it newer than every digest that was claimed before its commit.
 */
export async function insertReport(tx: Queryable, report: NewReport): Promise<boolean> {
  await sql`SELECT FROM moderator_mails FOR UPDATE`.execute(tx)
  const { numAffectedRows } = await sql`
    INSERT INTO reports (post_id, reporter_id, reason_id, comment, author_id, post_text, posted_at, created_at)
    SELECT p.id, ${report.reporterId}, ${report.reasonId}, ${report.comment}, p.owner_id, p.text, p.created_at,
      clock_timestamp()
    FROM visible_posts p WHERE p.id = ${report.postId} AND NOT EXISTS (
      SELECT FROM reports kept
      WHERE kept.post_id = p.id AND kept.state = 'kept' AND kept.post_text = p.text
    ) AND NOT EXISTS (
      SELECT FROM journal kept
      WHERE kept.post_id = p.id AND kept.action IN ('post.keep', 'post.restore') AND kept.details->>'text' = p.text
    )
    ON CONFLICT (post_id, reporter_id, reason_id) WHERE state = 'open' DO NOTHING`.execute(tx)
  return numAffectedRows === 1n
}
