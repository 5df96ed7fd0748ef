import Type from 'typebox'
import {
  CLIENT_TOKEN_MAX,
  CODE_LENGTH,
  DEVICE_FIELD_MAX,
  EMAIL_MAX,
  OPAQUE_MAX,
  PAGE_MAX,
  PAGE_SIZE,
  PAGE_SIZE_MAX,
} from './constants.ts'
import { strictObject } from './endpoint.ts'

/** Creates a one-line schema. Control characters and surrogates must not reach the database. */
export function line(minLength: number, maxLength: number) {
  return Type.String({ minLength, maxLength, pattern: '^[^\\p{Cc}\\p{Cs}]*$' })
}

export const Id = line(1, OPAQUE_MAX)
export const IdParams = strictObject({ id: Id })
export const UnixSeconds = Type.Integer({ minimum: 0 })
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const Email = line(1, EMAIL_MAX)
export const ClientToken = line(1, CLIENT_TOKEN_MAX)
const ConfirmCode = Type.String({ pattern: `^[0-9]{${CODE_LENGTH}}$` })
export const Device = strictObject({
  userAgent: line(0, DEVICE_FIELD_MAX),
  userAgentVersion: line(0, DEVICE_FIELD_MAX),
  os: line(0, DEVICE_FIELD_MAX),
})
export type Device = Type.Static<typeof Device>

const AccessToken = strictObject({ token: Type.String(), expiresAt: UnixSeconds })
export const AccessTokenAnswer = strictObject({ accessToken: AccessToken })
export type AccessTokenAnswer = Type.Static<typeof AccessTokenAnswer>
export const OperationAnswer = strictObject({ id: Id })
export const VerifyBody = strictObject({ confirmCode: ConfirmCode, clientToken: ClientToken })

/** `cursor` and `page` exclude each other. A cursor with `oldest-` leads to newer posts. */
export const pageQuery = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: OPAQUE_MAX })),
}
export const PageQuery = strictObject(pageQuery)
export type PageQuery = Type.Static<typeof PageQuery>
