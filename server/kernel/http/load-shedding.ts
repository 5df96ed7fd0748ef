import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { LIVE_PATH } from '../../../contract/constants.ts'
import { hasBody } from './connections.ts'
import { type Refusal, sendRefusal } from './refusal.ts'
import type { ObserveRequest } from './request-log.ts'

type Options = {
  refusal: Refusal
  isFirst: (socket: Socket) => boolean
  /** Answers a request without a slot, if it can; returns whether it does. */
  insteadOfRefusal: (request: IncomingMessage, response: ServerResponse) => boolean
  log: FastifyBaseLogger
  observe?: ObserveRequest | undefined
}
type Slot = {
  response: Guarded
  state: 'waiting' | 'running' | 'left'
  since: number
  begin: () => void
}
type Guarded = ServerResponse & { [SLOT]?: Slot }

// A response carries its slot. V8 would keep the responses in a long-lived Set alive until the next
// full collection, for a third of the CPU time of a signed-in read.
const SLOT = Symbol('slot')

/** About three for each database connection, where more would only wait. */
const RUNNING_MAX = 64
const WAIT_MS = 500
const CHECK_MS = 50
/** Refusals in one check: clients that retry at once must not keep the server busy. */
const REFUSALS_MAX = 50
const REPORT_MS = 10_000

/**
 * Bounds the running requests. The others wait half a second at most, the first request on a
 * connection before those of clients that have been served already.
 */
export function createLoadShedding({ refusal, isFirst, insteadOfRefusal, log, observe }: Options) {
  // All in the order of arrival.
  const first = new Set<Slot>()
  const next = new Set<Slot>()
  const late = new Set<Slot>()
  let freeSlots = RUNNING_MAX
  let ended = 0
  let checking: NodeJS.Timeout | undefined
  let refused = 0

  function enter({ socket }: IncomingMessage, response: Guarded, begin: () => void): void {
    // The client has gone, and no event would free the slot again.
    if (response.destroyed) return
    const slot: Slot = { response, state: 'waiting', since: 0, begin }
    response[SLOT] = slot
    response.once('close', () => leave(slot))
    if (freeSlots > 0) {
      run(slot)
      return
    }
    slot.since = performance.now()
    const line = isFirst(socket) ? first : next
    line.add(slot)
    checking ??= setInterval(checkWaiting, CHECK_MS)
  }

  function run(slot: Slot): void {
    freeSlots--
    slot.state = 'running'
    slot.begin()
  }

  function leave(slot: Slot): void {
    if (slot.state === 'waiting') for (const line of [first, next, late]) line.delete(slot)
    // Freed in the next turn of the event loop, so that no turn begins more requests than slots.
    if (slot.state === 'running' && ended++ === 0) setImmediate(runWaiting)
    slot.state = 'left'
  }

  function runWaiting(): void {
    freeSlots += ended
    ended = 0
    for (const line of [first, next]) {
      moveLate(line)
      for (const slot of line) {
        if (freeSlots === 0) break
        line.delete(slot)
        run(slot)
      }
    }
  }

  function moveLate(line: Set<Slot>): void {
    const longAgo = performance.now() - WAIT_MS
    for (const slot of line) {
      if (slot.since > longAgo) break
      line.delete(slot)
      late.add(slot)
    }
  }

  /** Also runs requests when no running one ends. */
  function checkWaiting(): void {
    runWaiting()
    let left = REFUSALS_MAX
    for (const slot of late) {
      if (left-- === 0) break
      late.delete(slot)
      if (insteadOfRefusal(slot.response.req, slot.response)) continue
      sendRefusal(slot.response, refusal)
      const { method = 'GET' } = slot.response.req
      const ms = performance.now() - slot.since
      observe?.({ method, route: null, status: refusal.status, ms }, false)
      if (refused++ === 0) setTimeout(report, REPORT_MS).unref()
    }
    if (first.size + next.size + late.size > 0) return
    clearInterval(checking)
    checking = undefined
  }

  function report(): void {
    log.warn({ refused }, 'requests were refused: too many at once')
    refused = 0
  }

  return {
    /**
     * Wraps a listener: requests without a body wait for a slot here, the others are read first.
     */
    guard:
      (listener: RequestListener): RequestListener =>
      (request, response) => {
        if (hasBody(request) || needsNoSlot(request.url)) return listener(request, response)
        enter(request, response, () => listener(request, response))
      },

    /** Assigns a slot to each request with a body once the body was read, and frees every slot. */
    addHooks(app: FastifyInstance): void {
      app.addHook('preValidation', (request, reply, done) => {
        const isIn = SLOT in reply.raw || needsNoSlot(request.url)
        if (isIn) done()
        else enter(request.raw, reply.raw, done)
      })
      app.addHook('onSend', (_request, reply, _payload, done) => {
        const slot = (reply.raw as Guarded)[SLOT]
        if (slot) leave(slot)
        done()
      })
    },
  }
}

/**
 * Health checks are always answered, so that a busy node is not taken for a dead one. The requests
 * of those who are told what is new stay open and do nothing.
 */
function needsNoSlot(url: string | undefined): boolean {
  return url === '/livez' || url === '/readyz' || url === LIVE_PATH
}
