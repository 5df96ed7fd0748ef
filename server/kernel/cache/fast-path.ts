import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import type { Outage } from '../db/outage.ts'
import { nextRequestId, type ObserveRequest, requestLine } from '../http/request-log.ts'
import type { Limit } from '../limits/rate-limits.ts'
import type { MemoryCache } from './cache.ts'
import {
  type CachedResponse,
  isNotModified,
  readyVariant,
  staleHeaders,
  variantFor,
} from './cached-response.ts'

export type FastPathOptions = {
  limit: Limit
  trustProxy: string[]
  log: FastifyBaseLogger
  observe?: ObserveRequest | undefined
  outage: Pick<Outage, 'noteStale'>
}

/** Answers visitors' reads before Fastify begins: from the cache, or stale instead of a refusal. */
export function createFastPath(cache: MemoryCache, options: FastPathOptions) {
  const { limit, trustProxy, log, observe, outage } = options
  const addressOf = clientAddress(trustProxy)

  function note({ route }: CachedResponse, status: number, began: number): void {
    const facts = { method: 'GET', route, status, ms: performance.now() - began }
    observe?.(facts, true)
    log.info(requestLine({ reqId: nextRequestId(), ...facts }), 'request')
  }

  return {
    /** Wraps a server's listener, which gets the requests that the cache cannot answer. */
    wrap:
      (listener: RequestListener): RequestListener =>
      (request, response) => {
        const { url = '', headers } = request
        const cached = isVisitorsRead(request) ? cache.get(url) : undefined
        const isOfUse = cached && !needsPageOfOwn(request, cached)
        const variant = isOfUse && readyVariant(cached, headers['accept-encoding'])
        if (!variant) return listener(request, response)

        const began = performance.now()
        limit.chargeNetwork(addressOf(request)).then(
          () => {
            if (isNotModified(cached, headers['if-none-match'])) {
              response.writeHead(304, variant.notModifiedHeaders).end()
            } else response.writeHead(200, variant.headers).end(variant.body)
            note(cached, response.statusCode, began)
          },
          // Over the limit, or not to be charged: the route answers with the error.
          () => listener(request, response),
        )
      },

    /**
     * Serves a stale response: a database that falls silent fills all slots before that is noticed.
     */
    serveStale(request: IncomingMessage, response: ServerResponse): boolean {
      const stale = isVisitorsRead(request) ? cache.getStale(request.url ?? '') : undefined
      if (!stale || needsPageOfOwn(request, stale.response)) return false
      const began = performance.now()
      variantFor(stale.response, request.headers['accept-encoding']).then(
        ({ headers, body }) => {
          response.writeHead(200, { ...headers, ...staleHeaders(stale.age) }).end(body)
          outage.noteStale()
          note(stale.response, 200, began)
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
