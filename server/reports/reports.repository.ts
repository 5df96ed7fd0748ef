import type { ReportReason } from '../../contract/reports.ts'
import type { Queryable } from '../db/database.ts'

export function selectReasons(db: Queryable): Promise<ReportReason[]> {
  return db.selectFrom('report_reasons').select(['id', 'name']).orderBy('place').execute()
}

export async function isReason(db: Queryable, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('report_reasons')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

export type NewReport = { postId: string; reporterId: string; reasonId: string }

/** Adds a report unless the reporter has made the same one before. Rejects with a foreign key violation without the post. */
export async function insertReport(db: Queryable, report: NewReport): Promise<void> {
  await db
    .insertInto('reports')
    .values({
      post_id: report.postId,
      reporter_id: report.reporterId,
      reason_id: report.reasonId,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
