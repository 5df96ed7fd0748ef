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
 * Makes the two ways to answer a visitor's read from the cache before Fastify begins: at once, and where it would be refused.
 * Such answers are counted and logged like any other.
 */
export function createFastPath(cache: MemoryCache, options: FastPathOptions) {
  const { limit, trustProxy, log, observe, outage } = options
  const addressOf = clientAddress(trustProxy)

  /** Returns the saved response to a URL while the database cannot be asked. One that must be marked first is for the routes. */
  function findSaved(url: string): SavedHit | undefined {
    const saved = outage.isDoubtful() ? cache.getSaved(url, outage.isAway()) : undefined
    return saved?.response.toSaved ? undefined : saved
  }

  function answer(request: IncomingMessage, response: ServerResponse, { began, ...found }: Found) {
    send(request, response, found)
    if (found.age !== undefined) outage.noteSaved()
    const { route } = found.cached
    const facts = {
      method: 'GET',
      route,
      status: response.statusCode,
      ms: performance.now() - began,
    }
    observe?.(facts, true)
    log.info(requestLine({ reqId: nextRequestId(), ...facts }), 'request')
  }

  return {
    /** Wraps a server's listener: what is in the cache is answered at once, every other request goes to `listener`. */
    wrap:
      (listener: RequestListener): RequestListener =>
      (request, response) => {
        const { url = '' } = request
        const isRead = isVisitorsRead(request)
        const fresh = isRead ? cache.getForVisitor(url) : undefined
        const saved = isRead && !fresh ? findSaved(url) : undefined
        const cached = fresh ?? saved?.response
        const accepted = request.headers['accept-encoding']
        if (!cached || needsPageOfOwn(request, cached) || waitsForCompression(cached, accepted)) {
          return listener(request, response)
        }

        const began = performance.now()
        limit.chargeNetwork(addressOf(request)).then(
          () => answer(request, response, { cached, age: saved?.age, began }),
          // The address is over the limit, or could not be charged: the route answers with the error.
          () => listener(request, response),
        )
      },

    /**
     * Answers a request that would otherwise be refused because too many run with what is saved; returns whether there is
     * something. A database that stops to answer fills all places before that is noticed.
     */
    serveSaved(request: IncomingMessage, response: ServerResponse): boolean {
      const hit = isVisitorsRead(request) ? cache.getSaved(request.url ?? '', true) : undefined
      if (!hit || needsPageOfOwn(request, hit.response)) return false
      const { response: cached, age } = hit
      const began = performance.now()
      if (!cached.toSaved) answer(request, response, { cached, age, began })
      else {
        cached.toSaved().then(
          (made) => answer(request, response, { cached: made, age, began }),
          (err) => {
            log.error({ err }, 'a saved page could not be marked')
            response.destroy()
          },
        )
      }
      return true
    },
  }
}

type Found = { cached: CachedResponse; age: number | undefined; began: number }

function isVisitorsRead({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.authorization === undefined
}

/** Whether the response is a page and the request has a cookie, perhaps the session's: signed-in people get another page. */
function needsPageOfOwn({ headers }: IncomingMessage, { isPage }: CachedResponse): boolean {
  return isPage && headers.cookie !== undefined
}

function send(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { cached, age }: Omit<Found, 'began'>,
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
