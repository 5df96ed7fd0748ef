import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { nextRequestId, requestLine } from '../http/request-log.ts'
import type { Limit } from '../rate-limits/rate-limits.ts'
import { isKnown, type KeptAnswer, type KeptAnswers } from './cache.ts'

type Options = {
  kept: KeptAnswers
  limit: Limit
  trustProxy: string[]
  log: FastifyBaseLogger
}

/**
 * Wraps a server's listener: a visitor's read that was answered a moment ago is answered again with the same bytes,
 * counted and logged like any other, without the work in between. Everything else goes to `listener`.
 */
export function replayKept(
  listener: RequestListener,
  { kept, limit, trustProxy, log }: Options,
): RequestListener {
  const addressOf = clientAddress(trustProxy)
  return (request, response) => {
    const { method, url = '', headers } = request
    const isVisitorsRead = method === 'GET' && headers.authorization === undefined
    const answer = isVisitorsRead ? kept.forVisitor(url) : undefined
    if (!answer?.headers) return listener(request, response)

    const began = performance.now()
    limit.chargeNetwork(addressOf(request)).then(
      () => {
        send(response, answer, isKnown(answer, headers['if-none-match']))
        const ms = performance.now() - began
        const { route } = answer
        const status = response.statusCode
        log.info(
          requestLine({ reqId: nextRequestId(), method: 'GET', route, status, ms }),
          'request',
        )
      },
      // Over the limit, or it could not be charged: the ordinary way says so.
      () => listener(request, response),
    )
  }
}

function send(response: ServerResponse, { headers, body }: KeptAnswer, hasIt: boolean): void {
  if (!hasIt) {
    response.writeHead(200, headers ?? {}).end(body)
    return
  }
  const { 'content-length': _, 'content-type': __, ...rest } = headers ?? {}
  response.writeHead(304, rest).end()
}

/** The visitor's address, as Fastify finds it. */
function clientAddress(trustProxy: string[]): (request: IncomingMessage) => string | undefined {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request) => proxyAddr(request, isTrusted)
}
