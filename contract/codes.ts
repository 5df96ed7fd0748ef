import Type from 'typebox'
import { described, endpoint, strictObject } from './endpoint.ts'
import { ClientToken, IdParams, UnixSeconds } from './fields.ts'

export const MailState = Type.Enum(['queued', 'sent', 'retrying', 'refused'], {
  description:
    '`sent`: the mail server accepted it, or received it twice without an answer; `retrying`: it is delayed; `refused`: no such mailbox',
})
export type MailState = Type.Static<typeof MailState>

export const readCodeMail = endpoint('POST', '/codes/:id/mail', {
  access: 'public',
  summary: 'What has become of the mail with the code of a sign-in, registration or e-mail change',
  params: IdParams,
  body: strictObject({ clientToken: ClientToken }),
  answer: strictObject({
    state: MailState,
    expiresAt: described(
      UnixSeconds,
      'When the code expires, in seconds since 1970 in UTC; earlier once the mail was accepted',
    ),
  }),
  errors: ['MAX_CONFIRM_ATTEMPTS', 'OPERATION_EXPIRED'],
})
