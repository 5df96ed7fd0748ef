import Type from 'typebox'
import { endpoint, strictObject } from './endpoint.ts'
import { ClientToken, IdParams, UnixSeconds } from './fields.ts'

/** `sent`: accepted by the mail server; `retrying`: delayed; `refused`: no such mailbox. */
const MailState = Type.Union([
  Type.Literal('queued'),
  Type.Literal('sent'),
  Type.Literal('retrying'),
  Type.Literal('refused'),
])
export type MailState = Type.Static<typeof MailState>

/** `expiresAt`: when the code expires; becomes earlier once its mail is accepted. */
const CodeMail = strictObject({ state: MailState, expiresAt: UnixSeconds })
export type CodeMail = Type.Static<typeof CodeMail>

export const readCodeMail = endpoint('POST', '/codes/:id/mail', {
  access: 'public',
  summary: 'What has become of the mail with the code of a sign-in, registration or e-mail change',
  params: IdParams,
  body: strictObject({ clientToken: ClientToken }),
  status: 200,
  answer: CodeMail,
  errors: ['MAX_CONFIRM_ATTEMPTS', 'OPERATION_EXPIRED'],
})
