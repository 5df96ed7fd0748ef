import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { nextRequestId, requestLine } from '../http/request-log.ts'
import type { Limit } from '../rate-limits/rate-limits.ts'
import { type CachedResponse, isNotModified, type MemoryCache } from './cache.ts'

export type FastPathOptions = {
  /** The rate limit on a visitor's calls. */
  limit: Limit
  trustProxy: string[]
  log: FastifyBaseLogger
}

/**
 * Wraps a server's listener: a visitor's read that is in the cache is answered at once, counted and logged like any
 * other, before Fastify begins. Every other request goes to `listener`.
 */
export function createFastPath(
  cache: MemoryCache,
  listener: RequestListener,
  { limit, trustProxy, log }: FastPathOptions,
): RequestListener {
  const addressOf = clientAddress(trustProxy)
  return (request, response) => {
    const { method, url = '', headers } = request
    const isVisitorsRead = method === 'GET' && headers.authorization === undefined
    const cached = isVisitorsRead ? cache.getForVisitor(url) : undefined
    if (!cached) return listener(request, response)

    const began = performance.now()
    limit.chargeNetwork(addressOf(request)).then(
      () => {
        send(response, cached, headers['if-none-match'])
        const ms = performance.now() - began
        const { route } = cached
        const status = response.statusCode
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

function send(
  response: ServerResponse,
  cached: CachedResponse,
  ifNoneMatch: string | undefined,
): void {
  if (isNotModified(cached, ifNoneMatch)) response.writeHead(304, cached.notModifiedHeaders).end()
  else response.writeHead(200, cached.headers).end(cached.body)
}

/** Makes the function that returns a visitor's address, by the same rule as Fastify's. */
function clientAddress(trustProxy: string[]): (request: IncomingMessage) => string | undefined {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request) => proxyAddr(request, isTrusted)
}
