import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { Answer, Endpoint, Input } from '../../contract/endpoint.ts'
import type { Limits } from '../rate-limits/rate-limits.ts'
import { AppError } from './app-error.ts'
import { type Authenticator, resolveViewer, type Viewer } from './authenticate.ts'
import { inTime } from './deadline.ts'
import { answerSchemas } from './openapi.ts'

export const API_PREFIX = '/api/v1'

type ViewerOf<E extends Endpoint> = E['access'] extends 'user' ? Viewer : Viewer | null
/** A validated request, and who sent it. */
type Call<E extends Endpoint> = Input<E> & { viewer: ViewerOf<E> }
/** The raw request and reply, for cookies and addresses. */
export type Http = { request: FastifyRequest; reply: FastifyReply }
/** Gives the answer, or its JSON ready to send. */
type Handler<E extends Endpoint> = (
  call: Call<E>,
  http: Http,
) => Promise<E extends { answer: object } ? Answer<E> | Buffer : void>
/** Serves one described call with its handler. */
export type Route = <E extends Endpoint>(endpoint: E, handler: Handler<E>) => void

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer | null
  }
}

/**
 * Makes the function that turns a described call into a Fastify route: who calls first, then the request by its
 * schemas, then the handler, then the answer by its schema.
 */
export function createRouter(
  app: FastifyInstance,
  guards: { auth: Authenticator; limits: Limits },
): Route {
  app.decorateRequest('viewer', null)
  return (endpoint, handler) => {
    const integers = integersOf(endpoint)
    app.route({
      method: endpoint.method,
      url: API_PREFIX + endpoint.path,
      schema: schemaOf(endpoint),
      async onRequest(request) {
        request.viewer = await resolveViewer(request, endpoint.access, guards)
      },
      async preValidation(request) {
        readNumbers(request.query as Record<string, unknown>, integers)
        // Where no body is described, every field of one is unknown.
        if (!endpoint.body && !isEmpty(request.body)) throw new AppError('INVALID_REQUEST')
      },
      async handler(request, reply) {
        const { params, query, headers, body, viewer } = request
        const call = { params, query, headers, body, viewer } as Call<typeof endpoint>
        reply.code(endpoint.status)
        const answer = handler(call, { request, reply })
        // A timer for each read costs more than it is worth: one asks the database twice, which gives up by itself.
        return endpoint.method === 'GET' ? answer : inTime(answer)
      },
    })
  }
}

function schemaOf(endpoint: Endpoint): FastifySchema {
  const { params, query, headers, body } = endpoint
  return {
    summary: endpoint.summary,
    tags: [endpoint.path.split('/')[1] ?? ''],
    security: security(endpoint),
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(headers && { headers }),
    ...(body && { body }),
    response: answerSchemas(endpoint),
  } as FastifySchema
}

function security({ access }: Endpoint) {
  if (access === 'user') return [{ bearer: [] }]
  return access === 'cookie' ? [{ cookie: [] }] : [{}, { bearer: [] }]
}

function isEmpty(body: unknown): boolean {
  return (
    body === undefined ||
    (typeof body === 'object' && body !== null && Object.keys(body).length === 0)
  )
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e\+?\d+)?$/i

/** Names of the query's parameters that the description calls integers. */
function integersOf({ query }: Endpoint): string[] {
  const described = Object.entries(query?.properties ?? {})
  return described.flatMap(([name, schema]) =>
    'type' in schema && schema.type === 'integer' ? [name] : [],
  )
}

/**
 * A query string has no numbers: where its description calls for an integer, a number as JSON spells it is read as one;
 * nothing else is coerced.
 */
function readNumbers(query: Record<string, unknown>, integers: string[]): void {
  for (const name of integers) {
    const value = query[name]
    if (typeof value === 'string' && JSON_NUMBER.test(value)) query[name] = Number(value)
  }
}
