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
import { described, nullable, strictObject } from './endpoint.ts'

/** Creates a one-line schema. Control characters and surrogates must not reach the database. */
export function line(minLength: number, maxLength: number) {
  return Type.String({ minLength, maxLength, pattern: '^[^\\p{Cc}\\p{Cs}]*$' })
}

export const Id = line(1, OPAQUE_MAX)
export const IdParams = strictObject({ id: Id })
export const UnixSeconds = Type.Integer({ minimum: 0, description: 'Seconds since 1970 in UTC' })
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const Email = line(1, EMAIL_MAX)
export const ClientToken = described(
  line(1, CLIENT_TOKEN_MAX),
  'A secret that the client makes at random and keeps, the same in all calls of one sign-in and its session: who has only the code, or only the cookie, does not get in',
)
const ConfirmCode = Type.String({
  pattern: `^[0-9]{${CODE_LENGTH}}$`,
  description: 'The digits of the mail',
})
/** What the list of sessions shows of a client. */
export const Device = strictObject({
  userAgent: described(line(0, DEVICE_FIELD_MAX), 'The name of the browser or program'),
  userAgentVersion: line(0, DEVICE_FIELD_MAX),
  os: described(line(0, DEVICE_FIELD_MAX), 'The operating system'),
})
export type Device = Type.Static<typeof Device>

const AccessToken = strictObject({
  token: Type.String({ description: 'For the header `Authorization: Bearer …`' }),
  expiresAt: UnixSeconds,
})
export const AccessTokenAnswer = strictObject({ accessToken: AccessToken })
export type AccessTokenAnswer = Type.Static<typeof AccessTokenAnswer>
export const OperationAnswer = strictObject({
  id: described(Id, 'The `id` for the call that sends the code'),
})
export const VerifyBody = strictObject({ confirmCode: ConfirmCode, clientToken: ClientToken })

export const NextCursor = described(
  nullable(Type.String()),
  'The `cursor` of the next page; null on the last one',
)

/** A cursor with `oldest-` leads to newer posts. */
export const pageQuery = {
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_MAX,
      description: 'The number of a page, without `cursor`. New posts move old ones to later pages',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_MAX,
      default: PAGE_SIZE,
      description: 'The most posts of a page',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: OPAQUE_MAX,
      description: 'The `nextCursor` of the page before, without `page`. New posts move nothing',
    }),
  ),
}
export const PageQuery = strictObject(pageQuery)
export type PageQuery = Type.Static<typeof PageQuery>
