import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { strictObject } from '../../../contract/endpoint.ts'
import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'
import { CachedResponse } from '../cache/cached-response.ts'
import type { Limits } from '../limits/limits.ts'
import { PAGE_FILES } from './call-limits.ts'

const ANY_CALL: readonly ErrorCode[] = ['TOO_MANY_REQUESTS', 'INTERNAL_ERROR', 'UNAVAILABLE']

function acceptsUserHeader({ method, access }: Endpoint): boolean {
  return method !== 'GET' && access !== 'cookie'
}

function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const { params, query, headers, body, access, publishes } = endpoint
  const errors = new Set<ErrorCode>([...endpoint.errors, ...ANY_CALL])
  if (endpoint.method !== 'GET') errors.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE')
  if (acceptsUserHeader(endpoint)) errors.add('OTHER_ACCOUNT')
  if (endpoint.method !== 'GET' || params || query || headers || body) errors.add('INVALID_REQUEST')
  if (access !== 'cookie') errors.add('UNAUTHORIZED')
  if (publishes) errors.add('BLOCKED').add('WRITING_CLOSED')
  if (params || access === 'moderator') errors.add('NOT_FOUND')
  return [...errors]
}

function answerSchemas(endpoint: Endpoint): Record<number, object> {
  const { status, answer = { type: 'null' }, cache } = endpoint
  const schemas: Record<number, object> = { [status]: { ...answer, description: 'OK' } }
  if (cache) schemas[304] = { type: 'null', description: 'The visitor has this very answer' }
  for (const [status, codes] of Map.groupBy(errorsOf(endpoint), (code) => ERRORS[code].status)) {
    const refusal = strictObject({ code: Type.Enum(codes), message: Type.String() })
    schemas[status] = { ...refusal, description: codes.join(', ') }
  }
  return schemas
}

const STARTED_BY = Type.Optional(
  Type.String({ description: 'The id of the account that has begun the call' }),
)

export function schemaOf(endpoint: Endpoint) {
  const { summary, path, params, query, headers, body } = endpoint
  const startedBy = { ...headers?.properties, 'x-user': STARTED_BY }
  return {
    summary,
    tags: [path.split('/')[1] ?? ''],
    security: security(endpoint),
    // Fastify warns of a part that is undefined.
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(acceptsUserHeader(endpoint) ? { headers: Type.Object(startedBy) } : headers && { headers }),
    ...(body && { body }),
    response: answerSchemas(endpoint),
  }
}

function security({ access }: Endpoint) {
  if (access === 'user' || access === 'moderator') return [{ bearer: [] }]
  return access === 'cookie' ? [{ cookie: [] }] : [{}, { bearer: [] }]
}

type ApiOptions = {
  appName: string
  cookieName: string
  limits: Limits
}

/** Serves the OpenAPI document, which describes the routes that are registered after this call. */
export async function describeApi(
  app: FastifyInstance,
  { appName, cookieName, limits }: ApiOptions,
): Promise<void> {
  await app.register(swagger, {
    // Only endpoints of the contract have tags.
    hideUntagged: true,
    openapi: {
      openapi: '3.1.0',
      info: { title: `${appName}: API`, version: '1' },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          cookie: { type: 'apiKey', in: 'cookie', name: cookieName },
        },
      },
    },
  })
  let document: CachedResponse | undefined
  app.get('/api/v1/openapi.json', {
    onRequest: ({ ip }) => limits.charge([{ limit: PAGE_FILES, ip }]),
    async handler(request, reply) {
      document ??= new CachedResponse({
        route: 'file',
        body: Buffer.from(JSON.stringify(app.swagger())),
        type: 'application/json; charset=utf-8',
        headers: {},
        cacheControl: 'no-store',
      })
      return document.send({ request, reply })
    },
  })
}
