import Type from 'typebox'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { strictObject } from '../../../contract/endpoint.ts'
import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'

const ANY_CALL: readonly ErrorCode[] = ['TOO_MANY_REQUESTS', 'INTERNAL_ERROR', 'UNAVAILABLE']

const STARTED_BY = Type.Optional(
  Type.String({
    description:
      'The `id` of the account in which the call was begun. The call is refused if the token is that of another',
  }),
)

function acceptsUserHeader({ method, access }: Endpoint): boolean {
  return method !== 'GET' && access !== 'cookie'
}

/** Returns the schema of the headers that a call reads; undefined if it reads none of its own. */
export function headersOf(endpoint: Endpoint) {
  const { headers } = endpoint
  if (!acceptsUserHeader(endpoint)) return headers
  return Type.Object({ ...headers?.properties, 'x-user': STARTED_BY })
}

/** Returns the codes with which a call can be refused, by status. */
export function errorsOf(endpoint: Endpoint): Map<number, ErrorCode[]> {
  const { params, query, headers, body, access, publishes } = endpoint
  const errors = new Set<ErrorCode>([...endpoint.errors, ...ANY_CALL])
  if (endpoint.method !== 'GET') errors.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE')
  if (acceptsUserHeader(endpoint)) errors.add('OTHER_ACCOUNT')
  if (endpoint.method !== 'GET' || params || query || headers || body) errors.add('INVALID_REQUEST')
  if (access !== 'cookie') errors.add('UNAUTHORIZED')
  if (publishes) errors.add('BLOCKED').add('WRITING_CLOSED')
  if (params || access === 'moderator') errors.add('NOT_FOUND')
  return Map.groupBy(errors, (code) => ERRORS[code].status)
}

function answerSchemas(endpoint: Endpoint): Record<number, object> {
  const { status, answer = { type: 'null' }, cache } = endpoint
  const schemas: Record<number, object> = { [status]: answer }
  if (cache) schemas[304] = { type: 'null' }
  for (const [status, codes] of errorsOf(endpoint)) {
    schemas[status] = strictObject({ code: Type.Enum(codes), message: Type.String() })
  }
  return schemas
}

/** Returns what Fastify validates and serialises a call by. */
export function schemaOf(endpoint: Endpoint) {
  const { params, query, body } = endpoint
  const headers = headersOf(endpoint)
  return {
    // Fastify warns of a part that is undefined.
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(headers && { headers }),
    ...(body && { body }),
    response: answerSchemas(endpoint),
  }
}
