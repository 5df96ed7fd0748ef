import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasBody } from '../http/connections.ts'
import { type Refusal, sendRefusal } from '../http/refusal.ts'
import { widestNetworkOf } from '../limits/network.ts'
import { Gate, type Leave } from './gate.ts'

type Lane = 'call' | 'page' | 'stream'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which requests this one shares slots with: calls of the API, unless set. */
    lane?: Lane | 'none' | ((request: FastifyRequest) => Lane)
  }
  interface FastifyRequest {
    /** What frees the request's slot; null if there was none for it. */
    leaveLane: Leave | null | undefined
  }
}

type Options = {
  refusalOf: (request: IncomingMessage) => Refusal
  /** Answers a request without a slot, if it can; returns whether it does. */
  insteadOfRefusal: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Whether a request is the first of its connection: those go before the later ones of others. */
  isFirst: (request: IncomingMessage) => boolean
  log: FastifyBaseLogger
}

const WAIT_MS = 500
const STREAM_RETRY_SECONDS = 60
const REPORT_MS = 10_000

/**
 * Admits each request to the lane that its route names, after its body was read, and frees the slot
 * with the answer, or when a hijacked response closes.
 */
export function addLanes(app: FastifyInstance, { log, ...options }: Options): void {
  const gates = {
    // About three for each database connection, where more would only wait.
    call: new Gate({ running: 64, each: 48, waiting: 4096, waitMs: WAIT_MS }),
    // Pages have their own lane, so that scrapers cannot starve API calls.
    page: new Gate({ running: 12, each: 8, waiting: 64, waitMs: WAIT_MS }),
    stream: new Gate({ running: 2000, each: 200 }),
  }
  const refused = { call: 0, page: 0, stream: 0 }

  function enter(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const { lane: named = 'call' } = request.routeOptions.config
    if (named === 'none') return void done()
    const lane = typeof named === 'function' ? named(request) : named
    const { raw } = reply
    // The client has gone, and no event would free the slot again.
    if (raw.destroyed) return
    const asked = { network: widestNetworkOf(request.ip), isFirst: options.isFirst(request.raw) }
    const giveUp = gates[lane].enter(asked, (leave) => {
      request.leaveLane = leave
      if (leave) done()
      else refuse(lane, { request, reply })
    })
    raw.once('close', () => (request.leaveLane ?? giveUp)())
  }

  function refuse(
    lane: Lane,
    { request: { raw }, reply }: Record<'request', FastifyRequest> & Record<'reply', FastifyReply>,
  ): void {
    reply.hijack()
    if (options.insteadOfRefusal(raw, reply.raw)) return
    const refusal = options.refusalOf(raw)
    const retryAfter = lane === 'stream' && { 'retry-after': STREAM_RETRY_SECONDS }
    sendRefusal(reply.raw, { ...refusal, headers: { ...refusal.headers, ...retryAfter } })
    if (refused.call + refused.page + refused.stream === 0) setTimeout(report, REPORT_MS).unref()
    refused[lane]++
  }

  function report(): void {
    const { call, page, stream } = refused
    const counts = { refused: call, refusedPages: page, refusedStreams: stream }
    log.warn(counts, 'requests were refused: too many at once')
    Object.assign(refused, { call: 0, page: 0, stream: 0 })
  }

  app.decorateRequest('leaveLane', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    if (hasBody(request.raw)) done()
    else enter(request, reply, done)
  })
  app.addHook('preValidation', (request, reply, done) => {
    if (hasBody(request.raw)) enter(request, reply, done)
    else done()
  })
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.leaveLane?.()
    done()
  })
}
