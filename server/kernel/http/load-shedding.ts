import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { LIVE_PATH } from '../../../contract/constants.ts'
import { PATHS, pageAt } from '../../../contract/pages.ts'
import { hasBody } from './connections.ts'
import { type Refusal, sendRefusal } from './refusal.ts'
import type { ObserveRequest } from './request-log.ts'

type Options = {
  refusalOf: (request: IncomingMessage) => Refusal
  isFirst: (socket: Socket) => boolean
  /** Answers a request without a slot, if it can; returns whether it does. */
  insteadOfRefusal: (request: IncomingMessage, response: ServerResponse) => boolean
  log: FastifyBaseLogger
  observe?: ObserveRequest | undefined
}
/** Requests of one kind, which wait for none of another; who waits, in the order of arrival. */
type Lane = {
  freeSlots: number
  /** How many may begin until the next check. */
  mayBegin: number
  ended: number
  first: Set<Slot>
  next: Set<Slot>
  late: Set<Slot>
}
type Slot = {
  lane: Lane
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
const CALLS_MAX = 64
/** More than half of the database's connections are enough for them. */
const PAGES_MAX = 12
/** Above this share of its time the main thread belongs to the others, but for a page each check. */
const BUSY_SHARE = 0.5
/**
 * While the main thread is busy, one page begins at each check, so that whoever joins a longer line
 * cannot be served within `WAIT_MS`. Requests that wait also survive into the old generation.
 */
const BUSY_LINE_MAX = 10
const RENDERED = new Set(['wall', 'post', 'author', 'authorReplies', 'search'])
const WAIT_MS = 500
const CHECK_MS = 50
/** Refusals in one check: clients that retry at once must not keep the server busy. */
const REFUSALS_MAX = 50
const REPORT_MS = 10_000

/**
 * Bounds the running requests, and apart from them the running pages: whoever reads page after page
 * keeps nobody from the API and the wall. The others wait half a second at most, the first request
 * on a connection before those of clients that have been served already, and pages of who is or was
 * signed in before those of visitors.
 */
export function createLoadShedding({ isFirst, insteadOfRefusal, log, ...options }: Options) {
  const calls = laneOf(CALLS_MAX)
  const pages = laneOf(PAGES_MAX)
  let checking: NodeJS.Timeout | undefined
  let utilization = performance.eventLoopUtilization()
  const refused = { calls: 0, pages: 0 }

  function enter(request: IncomingMessage, response: Guarded, begin: () => void): void {
    // The client has gone, and no event would free the slot again.
    if (response.destroyed) return
    const lane = isPage(request) ? pages : calls
    const slot: Slot = { lane, response, state: 'waiting', since: 0, begin }
    response[SLOT] = slot
    response.once('close', () => leave(slot))
    if (lane.freeSlots > 0 && lane.mayBegin > 0) {
      run(slot)
      return
    }
    slot.since = performance.now()
    const goesFirst = lane === pages ? request.headers.cookie : isFirst(request.socket)
    const line = lane[goesFirst ? 'first' : 'next']
    const isInVain = Number.isFinite(lane.mayBegin) && line.size >= BUSY_LINE_MAX
    const queue = isInVain ? lane.late : line
    queue.add(slot)
    if (checking) return
    utilization = performance.eventLoopUtilization()
    checking = setInterval(checkWaiting, CHECK_MS)
  }

  function run(slot: Slot): void {
    slot.lane.freeSlots--
    slot.lane.mayBegin--
    slot.state = 'running'
    slot.begin()
  }

  function leave(slot: Slot): void {
    const { lane, state } = slot
    if (state === 'waiting') for (const line of linesOf(lane)) line.delete(slot)
    // Freed in the next turn of the event loop, so that no turn begins more requests than slots.
    if (state === 'running' && lane.ended++ === 0) setImmediate(runWaiting, lane)
    slot.state = 'left'
  }

  function runWaiting(lane: Lane): void {
    lane.freeSlots += lane.ended
    lane.ended = 0
    for (const line of [lane.first, lane.next]) {
      moveLate(line, lane.late)
      for (const slot of line) {
        if (lane.freeSlots === 0 || lane.mayBegin === 0) break
        line.delete(slot)
        run(slot)
      }
    }
  }

  function moveLate(line: Set<Slot>, late: Set<Slot>): void {
    const longAgo = performance.now() - WAIT_MS
    for (const slot of line) {
      if (slot.since > longAgo) break
      line.delete(slot)
      late.add(slot)
    }
  }

  /** Also runs requests when no running one ends. */
  function checkWaiting(): void {
    const lanes = [calls, pages]
    const before = utilization
    utilization = performance.eventLoopUtilization()
    const { utilization: share } = performance.eventLoopUtilization(utilization, before)
    pages.mayBegin = share > BUSY_SHARE ? 1 : Number.POSITIVE_INFINITY
    lanes.forEach(runWaiting)
    let left = REFUSALS_MAX
    for (const slot of lanes.flatMap(({ late }) => [...late])) {
      if (left-- === 0) break
      slot.lane.late.delete(slot)
      refuse(slot)
    }
    if (lanes.flatMap(linesOf).some(({ size }) => size > 0)) return
    clearInterval(checking)
    checking = undefined
    pages.mayBegin = Number.POSITIVE_INFINITY
  }

  function refuse({ lane, response, since }: Slot): void {
    if (insteadOfRefusal(response.req, response)) return
    const refusal = options.refusalOf(response.req)
    sendRefusal(response, refusal)
    const { method = 'GET' } = response.req
    const ms = performance.now() - since
    options.observe?.({ method, route: null, status: refusal.status, ms }, false)
    if (refused.calls + refused.pages === 0) setTimeout(report, REPORT_MS).unref()
    refused[lane === pages ? 'pages' : 'calls']++
  }

  function report(): void {
    const { calls, pages } = refused
    log.warn({ refused: calls, refusedPages: pages }, 'requests were refused: too many at once')
    Object.assign(refused, { calls: 0, pages: 0 })
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

function laneOf(freeSlots: number): Lane {
  const mayBegin = Number.POSITIVE_INFINITY
  return { freeSlots, mayBegin, ended: 0, first: new Set(), next: new Set(), late: new Set() }
}

function linesOf({ first, next, late }: Lane): Set<Slot>[] {
  return [first, next, late]
}

/** Whether the request is for a page that is rendered, but for the wall's beginning. */
export function isPage({ method, url = '' }: IncomingMessage): boolean {
  if (url === PATHS.wall || url.startsWith('/api/')) return false
  const name = pageAt(url.split('?', 1)[0] ?? '')?.name ?? ''
  return (method === 'GET' || method === 'HEAD') && RENDERED.has(name)
}

/**
 * Health checks are always answered, so that a busy node is not taken for a dead one. The requests
 * of those who are told what is new stay open and do nothing.
 */
function needsNoSlot(url: string | undefined): boolean {
  return url === '/livez' || url === '/readyz' || url === LIVE_PATH
}
