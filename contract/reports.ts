import Type from 'typebox'
import { REPORT_COMMENT_MAX } from './constants.ts'
import { described, endpoint, strictObject } from './endpoint.ts'
import { Id, IdParams } from './fields.ts'

export const ReportReason = strictObject({ id: Id, name: Type.String() })
export type ReportReason = Type.Static<typeof ReportReason>

export const listReasons = endpoint('GET', '/reports/reasons', {
  access: 'public',
  summary: 'Reasons a post can be reported for',
  answer: strictObject({ reasons: Type.Array(ReportReason) }),
})

export const reportPost = endpoint('POST', '/posts/:id/reports', {
  access: 'user',
  publishes: true,
  summary: 'Report somebody else’s post; reporting twice with one reason changes nothing',
  params: IdParams,
  query: strictObject({ reason_id: described(Id, 'Of `GET /reports/reasons`') }),
  body: strictObject({
    comment: Type.Optional(Type.String({ maxLength: REPORT_COMMENT_MAX })),
  }),
  errors: ['INVALID_REQUEST', 'POST_NOT_FOUND', 'REASON_NOT_FOUND'],
})
