import { listReasons, reportPost } from '../../contract/reports.ts'
import { type Db, isRowId } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import type { Route } from '../http/route.ts'
import { requireOwner } from '../posts/posts.service.ts'
import type { Limits } from '../rate-limits/rate-limits.ts'
import { insertReport, isReason, selectReasons } from './reports.repository.ts'

type Options = { route: Route; db: Db; limits: Pick<Limits, 'reports'> }

export function registerReports({ route, db, limits }: Options): void {
  route(listReasons, async () => ({ reasons: await selectReasons(db) }))

  route(reportPost, async ({ params, query, viewer }) => {
    const ownerId = await requireOwner(db, params.id)
    if (ownerId === viewer.userId) {
      throw new AppError('INVALID_REQUEST', { message: 'На свою запись пожаловаться нельзя' })
    }
    const reasonId = query.reason_id
    if (!isRowId(reasonId) || !(await isReason(db, reasonId)))
      throw new AppError('REASON_NOT_FOUND')
    await limits.reports.charge(viewer.userId)
    const report = { postId: params.id, reporterId: viewer.userId, reasonId, comment: null }
    await insertReport(db, report)
  })
}
