import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import type { Outage } from '../db/outage.ts'
import { USER_CALLS, VISITOR_CALLS } from '../http/call-limits.ts'
import {
  measureQueryTime,
  nextRequestId,
  type ObserveRequest,
  requestLine,
} from '../http/request-log.ts'
import { type Authenticator, tokenOf } from '../http/route.ts'
import type { Limits } from '../limits/limits.ts'
import type { MemoryCache } from './cache.ts'
import type { CachedReads } from './cached-reads.ts'
import {
  type CachedResponse,
  isNotModified,
  type ResponseHeaders,
  readyVariant,
  staleHeaders,
  variantFor,
} from './cached-response.ts'

export type FastPathOptions = {
  auth: Pick<Authenticator, 'readToken'>
  limits: Limits
  trustProxy: string[]
  log: FastifyBaseLogger
  observe?: ObserveRequest | undefined
}

type Parts = { reads: CachedReads; outage: Pick<Outage, 'noteStale'> }
type Answer = { status: number; headers: ResponseHeaders; body?: Buffer; userId?: string }

declare module 'node:http' {
  interface IncomingMessage {
    /** Why the fast path, which has charged and checked the caller, did not answer. */
    refusal?: unknown
  }
}

/** Answers reads before Fastify begins: from the cache, or stale instead of a refusal. */
export function createFastPath(
  cache: MemoryCache,
  { auth, limits, trustProxy, log, observe, reads, outage }: FastPathOptions & Parts,
) {
  const addressOf = clientAddress(trustProxy)

  /** Returns undefined where the route has to answer. */
  function answerVisitor(
    request: IncomingMessage,
    cached: CachedResponse,
  ): Promise<Answer> | undefined {
    const { headers } = request
    if (needsPageOfOwn(request, cached)) return undefined
    const variant = readyVariant(cached, headers['accept-encoding'])
    // Over the limit, or not to be charged: the route answers with the error.
    return (
      variant &&
      limits
        .charge([{ limit: VISITOR_CALLS, ip: addressOf(request) }])
        .then(() =>
          isNotModified(cached, headers['if-none-match'])
            ? { status: 304, headers: variant.notModifiedHeaders }
            : { status: 200, headers: variant.headers, body: variant.body },
        )
    )
  }

  /** The same for a signed-in user. */
  function answerUser(
    request: IncomingMessage,
    cached: CachedResponse,
  ): Promise<Answer> | undefined {
    const { ownHeaders } = cached
    const viewer = ownHeaders && auth.readToken(tokenOf(request.headers))
    if (!viewer || reads.isPastCache(viewer, request.headers)) return undefined
    return measureQueryTime(request, async () => {
      try {
        await limits.charge([{ limit: USER_CALLS, key: viewer.userId }])
        const body = await reads.bodyFor(viewer, cached)
        const headers = { ...ownHeaders, 'content-length': body.length }
        return { status: 200, headers, body, userId: viewer.userId }
      } catch (error) {
        request.refusal = error
        throw error
      }
    })
  }

  function note(line: Omit<Parameters<typeof requestLine>[0], 'reqId' | 'method'>): void {
    const facts = { method: 'GET', ...line }
    observe?.(facts, true)
    log.info(requestLine({ reqId: nextRequestId(), ...facts }), 'request')
  }

  return {
    /** Wraps a server's listener, which gets the requests that the cache cannot answer. */
    wrap:
      (listener: RequestListener): RequestListener =>
      (request, response) => {
        const cached = request.method === 'GET' ? cache.get(request.url ?? '') : undefined
        if (!cached) return listener(request, response)
        const began = performance.now()
        const isVisitors = request.headers.authorization === undefined
        const answered = (isVisitors ? answerVisitor : answerUser)(request, cached)
        if (!answered) return listener(request, response)
        answered.then(
          ({ status, headers, body, userId }) => {
            response.writeHead(status, headers).end(body)
            const ms = performance.now() - began
            const dbMs = request.queryTime?.ms || undefined
            note({ route: cached.route, status, ms, dbMs, userId })
          },
          () => listener(request, response),
        )
      },

    /**
     * Serves a stale response: a database that falls silent fills all slots before that is noticed.
     */
    serveStale(request: IncomingMessage, response: ServerResponse): boolean {
      const stale = isVisitorsRead(request) ? cache.getStale(request.url ?? '') : undefined
      if (!stale || needsPageOfOwn(request, stale.response)) return false
      variantFor(stale.response, request.headers['accept-encoding']).then(
        ({ headers, body }) => {
          response.writeHead(200, { ...headers, ...staleHeaders(stale.age) }).end(body)
          outage.noteStale()
        },
        (err) => {
          log.error({ err }, 'a stale response could not be compressed')
          response.destroy()
        },
      )
      return true
    },
  }
}

function isVisitorsRead({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.authorization === undefined
}

/** Signed-in people, whose session is a cookie, get another page. */
function needsPageOfOwn({ headers }: IncomingMessage, { isPage }: CachedResponse): boolean {
  return isPage && headers.cookie !== undefined
}

/** Makes the function that returns a visitor's address, by the same rule as Fastify's. */
function clientAddress(trustProxy: string[]): (request: IncomingMessage) => string | undefined {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request) => proxyAddr(request, isTrusted)
}
