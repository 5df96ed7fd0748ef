import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import type { Outage } from '../db/outage.ts'
import { nextRequestId, type ObserveRequest, requestLine } from '../http/request-log.ts'
import type { Limit } from '../rate-limits/rate-limits.ts'
import type { MemoryCache, SavedHit } from './cache.ts'
import {
  type CachedResponse,
  isNotModified,
  savedHeaders,
  variantFor,
  waitsForCompression,
} from './cached-response.ts'

export type FastPathOptions = {
  /** The rate limit on a visitor's calls. */
  limit: Limit
  trustProxy: string[]
  log: FastifyBaseLogger
  observe?: ObserveRequest | undefined
  outage: Outage
}

/**
 * Wraps a server's listener: a visitor's read that is in the cache is answered at once, counted and logged like any
 * other, before Fastify begins. Every other request goes to `listener`.
 */
export function createFastPath(
  cache: MemoryCache,
  listener: RequestListener,
  { limit, trustProxy, log, observe, outage }: FastPathOptions,
): RequestListener {
  const addressOf = clientAddress(trustProxy)

  /** Returns the saved response to a URL while the database cannot be asked. One that must be marked first is for the routes. */
  function findSaved(url: string): SavedHit | undefined {
    const saved = outage.isDoubtful() ? cache.getSaved(url, outage.isAway()) : undefined
    return saved?.response.toSaved ? undefined : saved
  }

  return (request, response) => {
    const { method, url = '', headers } = request
    const isVisitorsRead = method === 'GET' && headers.authorization === undefined
    const fresh = isVisitorsRead ? cache.getForVisitor(url) : undefined
    const saved = isVisitorsRead && !fresh ? findSaved(url) : undefined
    const cached = fresh ?? saved?.response
    // A cookie may be the session's: signed-in people get another page.
    if (!cached || (cached.isPage && headers.cookie !== undefined)) {
      return listener(request, response)
    }
    if (waitsForCompression(cached, headers['accept-encoding'])) return listener(request, response)

    const began = performance.now()
    limit.chargeNetwork(addressOf(request)).then(
      () => {
        send(request, response, { cached, age: saved?.age })
        if (saved) outage.noteSaved()
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

function send(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { cached, age }: { cached: CachedResponse; age: number | undefined },
): void {
  const variant = variantFor(cached, headers['accept-encoding'])
  if (age !== undefined) {
    response.writeHead(200, { ...variant.headers, ...savedHeaders(age) }).end(variant.body)
  } else if (isNotModified(cached, headers['if-none-match'])) {
    response.writeHead(304, variant.notModifiedHeaders).end()
  } else response.writeHead(200, variant.headers).end(variant.body)
}

/** Makes the function that returns a visitor's address, by the same rule as Fastify's. */
function clientAddress(trustProxy: string[]): (request: IncomingMessage) => string | undefined {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request) => proxyAddr(request, isTrusted)
}
