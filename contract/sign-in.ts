import Type from 'typebox'
import { OPAQUE_MAX } from './constants.ts'
import { endpoint, strictObject } from './endpoint.ts'
import {
  AccessTokenAnswer,
  ClientToken,
  Device,
  Email,
  IdParams,
  OperationAnswer,
  VerifyBody,
} from './fields.ts'

const StartBody = strictObject({ email: Email, clientToken: ClientToken, device: Device })
const Invitation = Type.String({
  minLength: 1,
  maxLength: OPAQUE_MAX,
  description: 'Needed while the wall is open only to the invited',
})
const invitation = { invitation: Type.Optional(Invitation) }

export const restore = Type.Optional(
  Type.Literal(true, {
    description: 'Brings a deleted account back; without it the call fails with ACCOUNT_DELETED',
  }),
)
const SignInVerifyBody = strictObject({ ...VerifyBody.properties, restore })

const start = {
  access: 'public',
  setsCookie: true,
  body: StartBody,
  status: 201,
  answer: OperationAnswer,
  errors: ['FORBIDDEN'],
} as const

const verify = {
  access: 'public',
  setsCookie: true,
  params: IdParams,
  body: SignInVerifyBody,
  answer: AccessTokenAnswer,
  errors: [
    'INVALID_CONFIRM_CODE',
    'MAX_CONFIRM_ATTEMPTS',
    'OPERATION_EXPIRED',
    'FORBIDDEN',
    'ACCOUNT_DELETED',
  ],
} as const

export const startRegistration = endpoint('POST', '/registrations', {
  ...start,
  body: strictObject({ ...StartBody.properties, ...invitation }),
  summary: 'Start a registration: a code goes out by mail',
  errors: [...start.errors, 'REGISTRATION_CLOSED'],
})

export const verifyRegistration = endpoint('POST', '/registrations/:id/verify', {
  ...verify,
  body: strictObject({ ...SignInVerifyBody.properties, ...invitation }),
  errors: [...verify.errors, 'REGISTRATION_CLOSED'],
  summary: 'Finish a registration with the mailed code; sets the session cookie',
})

export const validateInvitation = endpoint('POST', '/invitations/validation', {
  access: 'public',
  summary: 'Whether one can register with an invitation; yes while nobody needs one',
  body: strictObject({ invitation: Invitation }),
  answer: strictObject({ isValid: Type.Boolean() }),
})

export const startLogin = endpoint('POST', '/logins', {
  ...start,
  summary: 'Start a sign-in: a code goes out by mail',
  errors: [...start.errors, 'USER_NOT_FOUND'],
})

export const verifyLogin = endpoint('POST', '/logins/:id/verify', {
  ...verify,
  summary: 'Finish a sign-in with the mailed code; sets the session cookie',
})
