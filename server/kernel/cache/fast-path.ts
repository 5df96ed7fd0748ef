import type {
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  ServerResponse,
} from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { READ_AFTER_WRITE_MS } from '../../../contract/constants.ts'
import type { Outage } from '../db/outage.ts'
import { USER_CALLS, VISITOR_CALLS } from '../http/call-limits.ts'
import { clientAddress } from '../http/forwarded-for.ts'
import { nextRequestId, type ObserveRequest, requestLine } from '../http/request-log.ts'
import { type Authenticator, tokenOf, type Viewer } from '../http/route.ts'
import type { Limits } from '../limits/limits.ts'
import type { MemoryCache } from './cache.ts'
import type { Answer, CachedResponse } from './cached-response.ts'

type Cache = {
  memory: MemoryCache
  writers: RecentWriters
  bodyFor(viewer: Viewer, cached: CachedResponse): Promise<Buffer>
}

type Options = {
  auth: Pick<Authenticator, 'readToken'>
  limits: Limits
  trustProxy: string[]
  log: FastifyBaseLogger
  outage: Pick<Outage, 'noteStale'>
  observe?: ObserveRequest | undefined
}

type Answered = Promise<Answer & { userId?: string }>

declare module 'node:http' {
  interface IncomingMessage {
    /** The error with which the fast path refused the caller; the route throws it. */
    refusal?: unknown
  }
}

/** The most users to remember: one node cannot answer the writes of more in two seconds. */
const WRITERS_MAX = 20_000

/** Remembers users whose reads bypass the cache, which may lack what they have just written. */
export class RecentWriters {
  readonly #writers = new LRUCache<string, true>({ max: WRITERS_MAX, ttl: READ_AFTER_WRITE_MS })

  readonly note = (userId: string): void => {
    this.#writers.set(userId, true)
  }

  /** Returns whether a user has just written on this node, or sends `no-cache` after any write. */
  includes({ userId }: Viewer, headers: IncomingHttpHeaders): boolean {
    return this.#writers.has(userId) || (headers['cache-control']?.includes('no-cache') ?? false)
  }
}

/** Answers reads from the cache before Fastify runs; sends stale responses instead of refusals. */
export class FastPath {
  readonly #cache: Cache
  readonly #options: Options
  readonly #addressOf: (request: IncomingMessage) => string | undefined

  constructor(cache: Cache, options: Options) {
    this.#cache = cache
    this.#options = options
    this.#addressOf = clientAddress(options.trustProxy)
  }

  wrap(listener: RequestListener): RequestListener {
    return (request, response) => {
      const isRead = request.method === 'GET'
      const cached = isRead ? this.#cache.memory.get(request.url ?? '') : undefined
      if (!cached) return listener(request, response)
      const began = performance.now()
      const isVisitors = request.headers.authorization === undefined
      const answered = isVisitors
        ? this.#answerVisitor(request, cached)
        : this.#answerUser(request, cached)
      if (!answered) return listener(request, response)
      answered.then(
        ({ status, headers, body, userId }) => {
          response.writeHead(status, headers).end(body)
          const ms = performance.now() - began
          this.#note({ route: cached.content.route, status, ms, userId })
        },
        () => listener(request, response),
      )
    }
  }

  /** Sends a visitor a stale response when all slots are busy; returns false if there is none. */
  serveStale(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '', headers } = request
    const isVisitors = method === 'GET' && headers.authorization === undefined
    const stale = isVisitors ? this.#cache.memory.getStale(url) : undefined
    if (!stale || needsPageOfOwn(request, stale.response)) return false
    const { response: saved, age } = stale
    // A busy server sends the uncompressed body instead of compressing it.
    const variant = saved.readyVariant(headers['accept-encoding']) ?? saved.identity
    const answer = saved.answerTo(headers, variant, age)
    response.writeHead(answer.status, answer.headers).end(answer.body)
    this.#options.outage.noteStale()
    return true
  }

  #answerVisitor(request: IncomingMessage, cached: CachedResponse): Answered | undefined {
    const { headers } = request
    if (needsPageOfOwn(request, cached)) return undefined
    const variant = cached.readyVariant(headers['accept-encoding'])
    if (!variant) return undefined
    const answer = cached.answerTo(headers, variant)
    // If the limit refuses, the route answers with the error.
    const charge = { limit: VISITOR_CALLS, ip: this.#addressOf(request) }
    return this.#options.limits.charge([charge]).then(() => answer)
  }

  #answerUser(request: IncomingMessage, cached: CachedResponse): Answered | undefined {
    const { auth, limits } = this.#options
    const viewer = cached.content.answer !== undefined && auth.readToken(tokenOf(request.headers))
    if (!viewer || this.#cache.writers.includes(viewer, request.headers)) return undefined
    const answer = async () => {
      await limits.charge([{ limit: USER_CALLS, key: viewer.userId }])
      const body = await this.#cache.bodyFor(viewer, cached)
      const headers = { ...cached.ownHeaders, 'content-length': body.length }
      return { status: 200, headers, body, userId: viewer.userId }
    }
    return answer().catch((error) => {
      request.refusal = error
      throw error
    })
  }

  #note(line: Omit<Parameters<typeof requestLine>[0], 'reqId' | 'method'>): void {
    const facts = { method: 'GET', ...line }
    this.#options.observe?.(facts, true)
    // A line would cost half as much as the read; the read that filled the cache has one.
    this.#options.log.debug(requestLine({ reqId: nextRequestId(), ...facts }), 'request')
  }
}

/** Returns whether the page must be made for the request, because its cookie may be a session. */
function needsPageOfOwn({ headers }: IncomingMessage, { content }: CachedResponse): boolean {
  return content.isPage === true && headers.cookie !== undefined
}
