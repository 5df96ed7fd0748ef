import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { API_PREFIX } from '../../../contract/constants.ts'
import type { Answer, CacheRule, Endpoint, Input } from '../../../contract/endpoint.ts'
import { isOfErasedUser } from '../db/database-errors.ts'
import { AppError } from '../errors/app-error.ts'
import type { Limits } from '../limits/limits.ts'
import { COOKIE_CALLS, callCharge } from './call-limits.ts'
import { toAppError } from './error-handler.ts'
import {
  convertNumbers,
  integerParamsOf,
  invalidFieldMessage,
  unknownFieldMessage,
} from './input.ts'
import { schemaOf } from './route-schema.ts'
import { withHandlerDeadline } from './server.ts'

export type Viewer = {
  userId: string
  sessionId: string
  /** Set once the session was checked, in the first day of the account. */
  newcomer?: Newcomer | null
  /** Set if the handler checks the session; throws the error of a session that may not write. */
  checkSession?: () => Promise<unknown>
}

/** The mailbox of a new account, and the seconds left of its first day. */
export type Newcomer = { mailbox: string; secondsLeft: number }

export type LiveSession = {
  newcomer: Newcomer | null
  /** The error that refuses a publication; null if the viewer may write. */
  writingRefusal: AppError | null
}

export type Authenticator = {
  /** Checks only the signature and expiry; returns null for an invalid token. */
  readToken(token: string): Viewer | null
  findSession(viewer: Viewer): Promise<LiveSession | null>
  /** Returns for each viewer whether the session is live. */
  areLive(viewers: Viewer[]): Promise<boolean[]>
}

type ViewerOf<E extends Endpoint> = E['access'] extends 'user' | 'moderator'
  ? Viewer
  : Viewer | null
type Call<E extends Endpoint> = Input<E> & { viewer: ViewerOf<E> }
export type Http = { request: FastifyRequest; reply: FastifyReply }
type Handler<E extends Endpoint> = (
  call: Call<E>,
  http: Http,
) => Promise<E extends { answer: object } ? Answer<E> : void>
/** With `answersClosedSession` the handler checks the session: it repeats what has closed it. */
type RouteOptions = { answersClosedSession?: boolean }
export type Route = <E extends Endpoint>(
  endpoint: E,
  handler: Handler<E>,
  options?: RouteOptions,
) => void

export type CachedEndpoint = Endpoint & { cache: CacheRule }
type ReadCache = {
  serveRead(
    call: { endpoint: CachedEndpoint; http: Http },
    read: () => Promise<unknown>,
  ): Promise<Buffer>
  addWriter(userId: string): void
}

type RouterOptions = {
  auth: Authenticator
  isModerator: (userId: string) => Promise<boolean>
  limits: Limits
  cache: ReadCache
  postIdOf: (endpoint: Endpoint, params: unknown, answered: unknown) => string | undefined
  handleMs?: number | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer | null
    postId: string | undefined
  }
}

/** Creates the function that registers endpoints as routes, with access, validation and cache. */
export function createRouter(app: FastifyInstance, options: RouterOptions): Route {
  app.decorateRequest('viewer', null)
  app.decorateRequest('postId', undefined)
  return (endpoint, handler, routeOptions = {}) => {
    const integers = integerParamsOf(endpoint)
    app.route({
      method: endpoint.method,
      url: API_PREFIX + endpoint.path,
      schema: schemaOf(endpoint),
      async onRequest(request) {
        request.viewer = await identifyViewer(request, endpoint, { ...options, ...routeOptions })
        if (endpoint.method !== 'GET') requireSameUser(request)
      },
      errorHandler: (error, request) => explain(error, request, endpoint),
      async preValidation(request) {
        if (integers.length > 0) convertNumbers(request.query, integers)
        // A body whose fields are all optional may be left out.
        if (endpoint.body) request.body ??= {}
        else if (!isEmpty(request.body)) {
          throw new AppError('INVALID_REQUEST', { message: unknownFieldMessage(endpoint, request) })
        }
      },
      async handler(request, reply) {
        const { params, query, headers, body, viewer } = request
        const call = { params, query, headers, body, viewer } as Call<typeof endpoint>
        const http = { request, reply }
        const handle = () => withHandlerDeadline(handler(call, http), options.handleMs)
        reply.code(endpoint.status)
        if (isCached(endpoint, query)) return options.cache.serveRead({ endpoint, http }, handle)
        const isRead = endpoint.method === 'GET'
        return isRead ? handle() : finishWrite(handle(), request, endpoint, options)
      },
    })
  }
}

async function finishWrite(
  answer: Promise<unknown>,
  request: FastifyRequest,
  endpoint: Endpoint,
  { cache, postIdOf }: RouterOptions,
): Promise<unknown> {
  try {
    const answered = await answer
    request.postId = postIdOf(endpoint, request.params, answered)
    return answered
  } finally {
    if (request.viewer) cache.addWriter(request.viewer.userId)
  }
}

/** Throws the error to answer. A closed session precedes all other errors of the client. */
async function explain(
  error: FastifyError,
  request: FastifyRequest,
  endpoint: Endpoint,
): Promise<never> {
  const { viewer } = request
  if (viewer && isOfErasedUser(error, viewer.userId)) throw new AppError('UNAUTHORIZED')
  if (toAppError(error).status < 500) await viewer?.checkSession?.()
  if (!error.validation) throw error
  const message = unknownFieldMessage(endpoint, request) ?? invalidFieldMessage(error)
  throw new AppError('INVALID_REQUEST', { message })
}

function isCached(endpoint: Endpoint, query: unknown): endpoint is CachedEndpoint {
  const values = query as Record<string, unknown>
  const own = Object.entries(endpoint.cache?.unless ?? {})
  return endpoint.cache !== undefined && own.every(([name, value]) => values[name] !== value)
}

function isEmpty(body: unknown): boolean {
  const isObject = typeof body === 'object' && body !== null
  return body === undefined || (isObject && Object.keys(body).length === 0)
}

/** Charges the limit on all calls, and returns the viewer. Throws UNAUTHORIZED or NOT_FOUND. */
async function identifyViewer(
  request: FastifyRequest,
  endpoint: Endpoint,
  { auth, limits, isModerator, ...options }: RouterOptions & RouteOptions,
): Promise<Viewer | null> {
  const { access } = endpoint
  const hasToken = access !== 'cookie' && request.headers.authorization !== undefined
  const viewer = hasToken ? auth.readToken(tokenOf(request.headers)) : null
  const { ip } = request
  await limits.charge([access === 'cookie' ? { limit: COOKIE_CALLS, ip } : callCharge(viewer, ip)])
  if (!viewer) {
    if (hasToken || access === 'user') throw new AppError('UNAUTHORIZED')
    if (access === 'moderator') throw new AppError('NOT_FOUND')
    return null
  }
  const checkSession = () => requireSession(viewer, endpoint, { auth, isModerator })
  if (options.answersClosedSession) return { ...viewer, checkSession }
  const { newcomer } = await checkSession()
  return { ...viewer, newcomer }
}

async function requireSession(
  viewer: Viewer,
  { access, publishes }: Endpoint,
  { auth, isModerator }: Pick<RouterOptions, 'auth' | 'isModerator'>,
): Promise<LiveSession> {
  const [session, isAllowed] = await Promise.all([
    auth.findSession(viewer),
    access !== 'moderator' || isModerator(viewer.userId),
  ])
  if (!session) throw new AppError('UNAUTHORIZED')
  if (!isAllowed) throw new AppError('NOT_FOUND')
  if (publishes && session.writingRefusal) throw session.writingRefusal
  return session
}

/** Throws OTHER_ACCOUNT for a write that the client began under another account. */
function requireSameUser({ headers, viewer }: FastifyRequest): void {
  const startedBy = headers['x-user']
  if (viewer && startedBy !== undefined && startedBy !== viewer.userId) {
    throw new AppError('OTHER_ACCOUNT')
  }
}

export function tokenOf({ authorization = '' }: IncomingHttpHeaders): string {
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
}
