import Type from 'typebox'
import { PASSKEY_NAME_MAX } from './constants.ts'
import { described, endpoint, nullable, strictObject } from './endpoint.ts'
import {
  AccessTokenAnswer,
  ClientToken,
  Device,
  Id,
  IdParams,
  line,
  UnixSeconds,
} from './fields.ts'
import { restore } from './sign-in.ts'

/** Bytes as WebAuthn's JSON has them. Together they fit into a body. */
const bytes = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'Bytes in base64url',
  })
const CredentialId = bytes(1400)
const ClientData = bytes(2000)

export const Passkey = strictObject({
  id: Id,
  name: Type.String(),
  createdAt: UnixSeconds,
  usedAt: nullable(UnixSeconds),
})
export type Passkey = Type.Static<typeof Passkey>

export const CreationOptions = strictObject({
  challenge: Type.String(),
  rp: strictObject({ id: Type.String(), name: Type.String() }),
  user: strictObject({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  pubKeyCredParams: Type.Array(
    strictObject({ type: Type.Literal('public-key'), alg: Type.Integer() }),
  ),
  excludeCredentials: Type.Array(
    strictObject({ type: Type.Literal('public-key'), id: Type.String() }),
  ),
  authenticatorSelection: strictObject({
    residentKey: Type.Literal('required'),
    requireResidentKey: Type.Literal(true),
    userVerification: Type.Literal('required'),
  }),
  attestation: Type.Literal('none'),
  timeout: Type.Integer(),
})

export const RequestOptions = strictObject({
  challenge: Type.String(),
  rpId: Type.String(),
  userVerification: Type.Literal('required'),
  timeout: Type.Integer(),
})

const Attestation = strictObject({
  id: CredentialId,
  clientDataJSON: ClientData,
  attestationObject: bytes(8000),
})
export type Attestation = Type.Static<typeof Attestation>

const Assertion = strictObject({
  id: CredentialId,
  clientDataJSON: ClientData,
  authenticatorData: bytes(2000),
  signature: bytes(5000),
  userHandle: Type.Optional(bytes(100)),
})
export type Assertion = Type.Static<typeof Assertion>

export const listPasskeys = endpoint('GET', '/users/current/passkeys', {
  access: 'user',
  summary: 'The viewer’s passkeys, the newest first',
  answer: strictObject({ passkeys: Type.Array(Passkey) }),
})

export const startPasskey = endpoint('POST', '/users/current/passkeys', {
  access: 'user',
  summary: 'Start to add a passkey: what the browser creates it with',
  status: 201,
  answer: strictObject({
    id: Id,
    options: described(CreationOptions, 'What `navigator.credentials.create` takes'),
  }),
  errors: ['TOO_MANY_PASSKEYS', 'FORBIDDEN'],
})

export const addPasskey = endpoint('POST', '/users/current/passkeys/:id/verify', {
  access: 'user',
  summary: 'Add the passkey that the browser has created; a mail with a link to undo it goes out',
  params: IdParams,
  body: Attestation,
  answer: Passkey,
  errors: ['INVALID_PASSKEY', 'OPERATION_EXPIRED', 'TOO_MANY_PASSKEYS', 'FORBIDDEN'],
})

export const renamePasskey = endpoint('PATCH', '/users/current/passkeys/:id', {
  access: 'user',
  summary: 'Name a passkey',
  params: IdParams,
  body: strictObject({ name: line(1, PASSKEY_NAME_MAX) }),
  answer: Passkey,
  errors: ['PASSKEY_NOT_FOUND'],
})

export const removePasskey = endpoint('DELETE', '/users/current/passkeys/:id', {
  access: 'user',
  summary: 'Remove a passkey; a mail with a link to undo it goes out',
  params: IdParams,
  errors: ['PASSKEY_NOT_FOUND'],
})

export const startPasskeyLogin = endpoint('POST', '/passkey-logins', {
  access: 'public',
  summary: 'Start a sign-in with a passkey of whatever account',
  setsCookie: true,
  body: strictObject({ clientToken: ClientToken, device: Device }),
  status: 201,
  answer: strictObject({
    id: Id,
    options: described(RequestOptions, 'What `navigator.credentials.get` takes'),
  }),
  errors: ['FORBIDDEN'],
})

export const signInWithPasskey = endpoint('POST', '/passkey-logins/:id/verify', {
  access: 'public',
  summary: 'Finish a sign-in with what the passkey has signed; sets the session cookie',
  setsCookie: true,
  params: IdParams,
  body: strictObject({
    assertion: Assertion,
    clientToken: ClientToken,
    restore,
  }),
  answer: AccessTokenAnswer,
  errors: ['INVALID_PASSKEY', 'OPERATION_EXPIRED', 'FORBIDDEN', 'ACCOUNT_DELETED'],
})
