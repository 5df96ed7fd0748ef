import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Connections, hasBody } from '../http/connections.ts'
import { type Refusals, sendRefusal } from '../http/refusal.ts'
import { widestNetworkOf } from '../limits/limits.ts'
import { Gate, type Slot } from './gate.ts'

type Lane = 'call' | 'page' | 'stream'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's lane; `call` unless set. */
    lane?: Lane | 'none' | ((request: FastifyRequest) => Lane)
  }
  interface FastifyRequest {
    slot: Slot | null
    isRefusedByGate: boolean
  }
}

export type LaneOptions = {
  /** `serveStale` answers a request without a slot if it can, and returns whether it does. */
  fastPath: { serveStale(request: IncomingMessage, response: ServerResponse): boolean }
  connections: Pick<Connections, 'isFirst'>
  refusals: Pick<Refusals, 'unavailable'>
  log: FastifyBaseLogger
}

const WAIT_MS = 500
/** Longer than a handler may run. */
const ABANDONED_MS = 10_000
const STREAM_RETRY_SECONDS = 60
const REPORT_MS = 10_000

/** Admits each request to its route's lane once its body was read. The answer frees its slot. */
export function addLanes(app: FastifyInstance, options: LaneOptions): void {
  const lanes = new Lanes(options)
  app.decorateRequest('slot', null)
  app.decorateRequest('isRefusedByGate', false)
  app.addHook('onRequest', async (request, reply) => {
    if (!hasBody(request.raw)) await lanes.admit(request, reply)
  })
  app.addHook('preValidation', async (request, reply) => {
    if (hasBody(request.raw)) await lanes.admit(request, reply)
  })
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.slot?.release()
    done()
  })
}

class Lanes {
  readonly #options: LaneOptions
  readonly #gates = {
    // About three for each database connection, for which more requests would only wait.
    call: new Gate({ running: 64, each: 48, waiting: 4096, waitMs: WAIT_MS }),
    // Page reads have their own lane, so that they cannot starve API calls.
    page: new Gate({ running: 12, each: 8, waiting: 64, waitMs: WAIT_MS }),
    stream: new Gate({ running: 2000, each: 200 }),
  }
  #refused = { call: 0, page: 0, stream: 0 }
  #reporting: NodeJS.Timeout | undefined

  constructor(options: LaneOptions) {
    this.#options = options
  }

  /** Resolves once the request has a slot, or is answered without one, or its client has gone. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { lane: laneOption = 'call' } = request.routeOptions.config
    if (laneOption === 'none') return
    const lane = typeof laneOption === 'function' ? laneOption(request) : laneOption
    const { raw } = reply
    // It emits no `close` any more, which would free the slot.
    if (raw.destroyed) return void reply.hijack()
    const closed = new AbortController()
    raw.once('close', () => closed.abort())
    const isFirst = this.#options.connections.isFirst(request.raw)
    const wait = { isFirst, signal: closed.signal }
    const slot = await this.#gates[lane].acquire(widestNetworkOf(request.ip), wait)
    if (!slot) return this.#refuse(lane, request, reply)
    request.slot = slot
    raw.once('close', () => {
      // If the handler still runs, its answer frees the slot, unless the answer has no body.
      if (reply.sent) slot.release()
      else setTimeout(() => slot.release(), ABANDONED_MS).unref()
    })
  }

  #refuse(lane: Lane, request: FastifyRequest, reply: FastifyReply): void {
    const { fastPath, refusals } = this.#options
    reply.hijack()
    if (reply.raw.destroyed) return
    request.isRefusedByGate = true
    if (fastPath.serveStale(request.raw, reply.raw)) return
    const refusal = refusals.unavailable(request.raw)
    const retryAfter = lane === 'stream' && { 'retry-after': STREAM_RETRY_SECONDS }
    sendRefusal(reply.raw, { ...refusal, headers: { ...refusal.headers, ...retryAfter } })
    this.#refused[lane]++
    this.#reporting ??= setTimeout(() => this.#report(), REPORT_MS).unref()
  }

  #report(): void {
    const { call, page, stream } = this.#refused
    const counts = { refused: call, refusedPages: page, refusedStreams: stream }
    this.#options.log.warn(counts, 'requests were refused: too many at once')
    this.#refused = { call: 0, page: 0, stream: 0 }
    this.#reporting = undefined
  }
}
