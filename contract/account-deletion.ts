import { described, endpoint, strictObject } from './endpoint.ts'
import { ClientToken, IdParams, OperationAnswer, UnixSeconds, VerifyBody } from './fields.ts'

export const startAccountDeletion = endpoint('POST', '/users/current/deletion', {
  access: 'user',
  summary: 'Start the deletion of the account: a code goes to its address',
  setsCookie: true,
  body: strictObject({ clientToken: ClientToken }),
  status: 201,
  answer: OperationAnswer,
})

export const verifyAccountDeletion = endpoint('POST', '/users/current/deletion/:id/verify', {
  access: 'user',
  summary:
    'Delete the account with the mailed code: hides everything of it and closes all sessions; signing in brings it back until it is erased',
  setsCookie: true,
  params: IdParams,
  body: VerifyBody,
  answer: strictObject({
    erasedAt: described(UnixSeconds, 'When it is erased for good; seconds since 1970 in UTC'),
  }),
  errors: ['INVALID_CONFIRM_CODE', 'MAX_CONFIRM_ATTEMPTS', 'OPERATION_EXPIRED'],
})
