import type {
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  ServerResponse,
} from 'node:http'
import { LRUCache } from 'lru-cache'
import { READ_AFTER_WRITE_MS } from '../../../contract/constants.ts'
import type { Outage } from '../db/outage.ts'
import { callCharge } from '../http/call-limits.ts'
import { answerError, type RefusalFacts } from '../http/error-handler.ts'
import { createAddressReader } from '../http/forwarded-for.ts'
import { nextRequestId, type RequestLog } from '../http/request-log.ts'
import { type Authenticator, tokenOf, type Viewer } from '../http/route.ts'
import type { Limits } from '../limits/limits.ts'
import type { MemoryCache } from './cache.ts'
import type { Answer, CachedResponse } from './cached-response.ts'

type Cache = {
  memory: MemoryCache
  writers: RecentWriters
  answerUser(viewer: Viewer, cached: CachedResponse): Promise<Answer>
}

type Options = {
  auth: Pick<Authenticator, 'readToken'>
  limits: Limits
  trustProxy: string[]
  requestLog: Pick<RequestLog, 'record'>
  outage: Pick<Outage, 'countStale'>
}

/** A read whose answer is cached: for a visitor that answer, for a user one with their flags. */
type CachedRead = {
  cached: CachedResponse
  viewer: Viewer | null
  answer: () => Answer | Promise<Answer>
}

/** The most users to remember: one node cannot answer the writes of more in two seconds. */
const WRITERS_MAX = 20_000

/** Remembers users whose reads bypass the cache, which may lack what they have just written. */
export class RecentWriters {
  readonly #writers = new LRUCache<string, true>({ max: WRITERS_MAX, ttl: READ_AFTER_WRITE_MS })

  readonly add = (userId: string): void => {
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
    this.#addressOf = createAddressReader(options.trustProxy)
  }

  wrap(listener: RequestListener): RequestListener {
    return (request, response) => {
      const read = this.#findRead(request)
      if (read) void this.#serve(read, request, response)
      else listener(request, response)
    }
  }

  /** Sends a visitor a stale response when all slots are busy; returns false if there is none. */
  serveStale(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '', headers } = request
    const isVisitors = method === 'GET' && headers.authorization === undefined
    const stale = isVisitors ? this.#cache.memory.getStale(url) : undefined
    if (!stale || needsPageOfOwn(request, stale.response)) return false
    const { response: cached, age } = stale
    // A busy server sends the uncompressed body instead of compressing it.
    const variant = cached.readyVariant(headers['accept-encoding']) ?? cached.identity
    const answer = cached.answerTo(headers, variant, age)
    response.writeHead(answer.status, answer.headers).end(answer.body)
    this.#options.outage.countStale()
    return true
  }

  /** Returns undefined if the answer is not cached, so that Fastify must make it. */
  #findRead(request: IncomingMessage): CachedRead | undefined {
    const { method, url = '', headers } = request
    const cached = method === 'GET' ? this.#cache.memory.get(url) : undefined
    if (!cached) return undefined
    if (headers.authorization === undefined) {
      if (needsPageOfOwn(request, cached)) return undefined
      const variant = cached.readyVariant(headers['accept-encoding'])
      return variant && { cached, viewer: null, answer: () => cached.answerTo(headers, variant) }
    }
    if (cached.content.answer === undefined) return undefined
    const viewer = this.#options.auth.readToken(tokenOf(headers))
    if (!viewer || this.#cache.writers.includes(viewer, headers)) return undefined
    return { cached, viewer, answer: () => this.#cache.answerUser(viewer, cached) }
  }

  async #serve(read: CachedRead, request: IncomingMessage, response: ServerResponse) {
    const began = performance.now()
    const network = this.#addressOf(request)
    const { status, headers, body, refusalFacts } = await this.#answer(read, request, network)
    response.writeHead(status, headers).end(body)
    this.#options.requestLog.record({
      reqId: nextRequestId(),
      method: 'GET',
      route: read.cached.content.route,
      status,
      ms: performance.now() - began,
      userId: refusalFacts ? undefined : read.viewer?.userId,
      network,
      refusalFacts,
      isCacheHit: !refusalFacts,
    })
  }

  async #answer(
    { cached, viewer, answer }: CachedRead,
    { headers }: IncomingMessage,
    network: string | undefined,
  ): Promise<Answer & { refusalFacts?: RefusalFacts }> {
    try {
      await this.#options.limits.charge([callCharge(viewer, network)])
      return await answer()
    } catch (error) {
      const { headers: everywhere, refusedPage } = cached.content
      const refusal = answerError(error as Error, { headers, page: await refusedPage?.() })
      return { ...refusal, headers: { ...everywhere, ...refusal.headers } }
    }
  }
}

/** Returns whether the page must be made for the request, because its cookie may be a session. */
function needsPageOfOwn({ headers }: IncomingMessage, { content }: CachedResponse): boolean {
  return content.isPage === true && headers.cookie !== undefined
}
