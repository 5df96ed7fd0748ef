import Type from 'typebox'
import { endpoint, strictObject } from './endpoint.ts'
import { ClientToken, IdParams, UnixSeconds } from './fields.ts'

/**
 * `sent`: the mail server accepted it, or received it twice without an answer; `retrying`: it is
 * delayed; `refused`: no such mailbox.
 */
const MailState = Type.Enum(['queued', 'sent', 'retrying', 'refused'])
export type MailState = Type.Static<typeof MailState>

export const readCodeMail = endpoint('POST', '/codes/:id/mail', {
  access: 'public',
  summary: 'What has become of the mail with the code of a sign-in, registration or e-mail change',
  params: IdParams,
  body: strictObject({ clientToken: ClientToken }),
  /** `expiresAt` becomes earlier once the mail server has accepted the mail. */
  answer: strictObject({ state: MailState, expiresAt: UnixSeconds }),
  errors: ['MAX_CONFIRM_ATTEMPTS', 'OPERATION_EXPIRED'],
})
