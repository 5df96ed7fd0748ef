import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import Type from 'typebox'
import { API_PREFIX } from '../../../contract/constants.ts'
import type { Answer, CacheRule, Endpoint, Input } from '../../../contract/endpoint.ts'
import { isOfErasedUser } from '../db/database-errors.ts'
import { withDeadline } from '../db/outage.ts'
import { AppError } from '../errors/app-error.ts'
import type { Limits } from '../limits/limits.ts'
import {
  type Authenticator,
  identifyViewer,
  type LiveSession,
  requireSameUser,
  requireSession,
  type Viewer,
} from './authenticate.ts'
import { toAppError } from './error-handler.ts'
import { namesUnknown } from './input.ts'
import { answerSchemas, mayNameUser } from './openapi.ts'

const HANDLE_MS = 8000

type ViewerOf<E extends Endpoint> = E['access'] extends 'user' | 'moderator'
  ? Viewer
  : Viewer | null
type Call<E extends Endpoint> = Input<E> & { viewer: ViewerOf<E> }
export type Http = { request: FastifyRequest; reply: FastifyReply }
type Handler<E extends Endpoint> = (
  call: Call<E>,
  http: Http,
) => Promise<E extends { answer: object } ? Answer<E> : void>
/** `checksSession`: of a session that was live a moment ago, the handler makes sure itself. */
type RouteOptions = { checksSession?: boolean }
export type Route = <E extends Endpoint>(
  endpoint: E,
  handler: Handler<E>,
  options?: RouteOptions,
) => void

export type CachedEndpoint = Endpoint & { cache: CacheRule }
type ReadCache = {
  /** Returns the JSON to send: a cached one, or what `read` resolves to. */
  serveRead(
    call: { endpoint: CachedEndpoint; http: Http },
    read: () => Promise<unknown>,
  ): Promise<Buffer>
  /** Makes a user's next reads show what they have just written. */
  noteWrite(userId: string): void
}

type RouterOptions = {
  auth: Authenticator
  limits: Limits
  cache: ReadCache
  /** Returns the id of the post that a call has published or is about, for the log. */
  postIdOf: (endpoint: Endpoint, params: unknown, answered: unknown) => string | undefined
  /** After how many milliseconds a write is refused that has no answer yet; 8 s unless set. */
  handleMs?: number | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer | null
    postId: string | undefined
  }
}

/** Makes the function that turns an endpoint into a route: access, validation, cache, answer. */
export function createRouter(
  app: FastifyInstance,
  { cache, postIdOf, handleMs, ...guards }: RouterOptions,
): Route {
  app.decorateRequest('viewer', null)
  app.decorateRequest('postId', undefined)
  return (endpoint, handler, { checksSession = false } = {}) => {
    const integers = integersOf(endpoint)
    app.route({
      method: endpoint.method,
      url: API_PREFIX + endpoint.path,
      schema: schemaOf(endpoint),
      async onRequest(request) {
        if (request.raw.refusal) throw request.raw.refusal
        const viewer = await identifyViewer(request, endpoint.access, guards)
        if (!viewer) return
        let checked: Promise<LiveSession> | undefined
        const checkSession = () => {
          checked ??= requireSession(viewer, endpoint, guards.auth)
          return checked
        }
        if (checksSession && guards.auth.wasLive(viewer)) {
          request.viewer = { ...viewer, checkSession }
        } else {
          const { isNewcomer } = await checkSession()
          request.viewer = { ...viewer, isNewcomer }
        }
        if (endpoint.method !== 'GET') requireSameUser(request.headers, viewer)
      },
      // A call whose session is closed is refused for that, whatever else is wrong with it.
      async errorHandler(error, request) {
        const { viewer } = request
        if (viewer && isOfErasedUser(error, viewer.userId)) throw new AppError('UNAUTHORIZED')
        if (toAppError(error).status < 500) await viewer?.checkSession?.()
        if (!error.validation) throw error
        throw new AppError('INVALID_REQUEST', { message: namesUnknown(endpoint, request) })
      },
      async preValidation(request) {
        readNumbers(request.query as Record<string, unknown>, integers)
        // A body of which every field is optional may be left out.
        if (endpoint.body) request.body ??= {}
        // Where no body is described, every field of one is unknown.
        if (!endpoint.body && !isEmpty(request.body)) {
          throw new AppError('INVALID_REQUEST', { message: namesUnknown(endpoint, request) })
        }
      },
      async handler(request, reply) {
        const { params, query, headers, body, viewer } = request
        const call = { params, query, headers, body, viewer } as Call<typeof endpoint>
        const http = { request, reply }
        reply.code(endpoint.status)
        if (isCached(endpoint) && isCacheable(query, endpoint.cache)) {
          return cache.serveRead({ endpoint, http }, () => handler(call, http))
        }
        // A timer for each read would cost more than it is worth: its statements have timeouts.
        const answer = handler(call, http)
        if (endpoint.method === 'GET') return answer
        try {
          const answered = await withHandlerDeadline(answer, handleMs)
          request.postId = postIdOf(endpoint, params, answered)
          return answered
        } finally {
          if (viewer) cache.noteWrite(viewer.userId)
        }
      },
    })
  }
}

/** `limit` posts of a list, after the one that `cursor` names. */
export type ListQuery = { limit: number; cursor?: string }

/** Settles as a handler does, but throws UNAVAILABLE after 8 s, unless set. */
export function withHandlerDeadline<T>(answer: Promise<T>, ms = HANDLE_MS): Promise<T> {
  return withDeadline(answer, ms, (): never => {
    throw new AppError('UNAVAILABLE')
  })
}

function isCached(endpoint: Endpoint): endpoint is CachedEndpoint {
  return endpoint.cache !== undefined
}

function isCacheable(query: unknown, { unless = {} }: CacheRule): boolean {
  const values = query as Record<string, unknown>
  return Object.entries(unless).every(([name, value]) => values[name] !== value)
}

const STARTED_BY = Type.Optional(
  Type.String({ description: 'The id of the account that has begun the call' }),
)

function headersOf(endpoint: Endpoint): Endpoint['headers'] {
  const { headers } = endpoint
  return mayNameUser(endpoint)
    ? Type.Object({ ...headers?.properties, 'x-user': STARTED_BY })
    : headers
}

function schemaOf(endpoint: Endpoint): FastifySchema {
  const { params, query, body } = endpoint
  const headers = headersOf(endpoint)
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
  if (access === 'user' || access === 'moderator') return [{ bearer: [] }]
  return access === 'cookie' ? [{ cookie: [] }] : [{}, { bearer: [] }]
}

function isEmpty(body: unknown): boolean {
  return (
    body === undefined ||
    (typeof body === 'object' && body !== null && Object.keys(body).length === 0)
  )
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e\+?\d+)?$/i

function integersOf({ query }: Endpoint): string[] {
  const described = Object.entries(query?.properties ?? {})
  return described.flatMap(([name, schema]) =>
    'type' in schema && schema.type === 'integer' ? [name] : [],
  )
}

/** Reads a number as JSON spells it where an integer is described, and coerces nothing else. */
function readNumbers(query: Record<string, unknown>, integers: string[]): void {
  for (const name of integers) {
    const value = query[name]
    if (typeof value === 'string' && JSON_NUMBER.test(value)) query[name] = Number(value)
  }
}
