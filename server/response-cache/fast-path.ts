import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { nextRequestId, type ObserveRequest, requestLine } from '../http/request-log.ts'
import type { Limit } from '../rate-limits/rate-limits.ts'
import type { MemoryCache } from './cache.ts'
import {
  type CachedResponse,
  isNotModified,
  variantFor,
  waitsForCompression,
} from './cached-response.ts'

export type FastPathOptions = {
  /** The rate limit on a visitor's calls. */
  limit: Limit
  trustProxy: string[]
  log: FastifyBaseLogger
  observe?: ObserveRequest | undefined
}

/**
 * Wraps a server's listener: a visitor's read that is in the cache is answered at once, counted and logged like any
 * other, before Fastify begins. Every other request goes to `listener`.
 */
export function createFastPath(
  cache: MemoryCache,
  listener: RequestListener,
  { limit, trustProxy, log, observe }: FastPathOptions,
): RequestListener {
  const addressOf = clientAddress(trustProxy)
  return (request, response) => {
    const { method, url = '', headers } = request
    const isVisitorsRead = method === 'GET' && headers.authorization === undefined
    const cached = isVisitorsRead ? cache.getForVisitor(url) : undefined
    // A cookie may be the session's: signed-in people get another page.
    if (!cached || (cached.isPage && headers.cookie !== undefined)) {
      return listener(request, response)
    }
    if (waitsForCompression(cached, headers['accept-encoding'])) return listener(request, response)

    const began = performance.now()
    limit.chargeNetwork(addressOf(request)).then(
      () => {
        send(request, response, cached)
        const ms = performance.now() - began
        const { route } = cached
        const status = response.statusCode
        observe?.({ method: 'GET', route, status, ms }, true)
        log.info(
          requestLine({ reqId: nextRequestId(), method: 'GET', route, status, ms }),
          'request',
        )
      },
      // The address is over the limit, or could not be charged: the route answers with the error.
      () => listener(request, response),
    )
  }
}

function send(request: IncomingMessage, response: ServerResponse, cached: CachedResponse): void {
  const { headers } = request
  const variant = variantFor(cached, headers['accept-encoding'])
  if (isNotModified(cached, headers['if-none-match'])) {
    response.writeHead(304, variant.notModifiedHeaders).end()
  } else response.writeHead(200, variant.headers).end(variant.body)
}

/** Makes the function that returns a visitor's address, by the same rule as Fastify's. */
function clientAddress(trustProxy: string[]): (request: IncomingMessage) => string | undefined {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request) => proxyAddr(request, isTrusted)
}
