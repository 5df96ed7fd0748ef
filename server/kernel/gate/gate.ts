import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors/app-error.ts'
import { type Connections, hasBody } from '../http/connections.ts'
import { type Refusals, sendRefusal } from '../http/refusal.ts'
import { widestNetworkOf } from '../limits/limits.ts'

type Bounds = {
  running: number
  each: number
  waiting: number
  waitMs: number
  message?: string
  retryAfter: number
}
export type Leave = () => void
type Settle = (leave: Leave | null) => void
type Waiting = { network: string; settle: Settle; timer: NodeJS.Timeout; line: Set<Waiting> }
type Asked = { network?: string; isFirst?: boolean }

/** Limits how many tasks run at once, per network and in total. Others wait, or are refused. */
export class Gate {
  readonly #bounds: Bounds
  #free: number
  #runningOf = new Map<string, number>()
  #waitingOf = new Map<string, number>()
  /** Waiting tasks in the order of arrival. All tasks of `#first` precede those of `#next`. */
  readonly #first = new Set<Waiting>()
  readonly #next = new Set<Waiting>()
  #ended: string[] = []

  constructor(bounds: Partial<Bounds> & Pick<Bounds, 'running'>) {
    this.#bounds = { each: bounds.running, waiting: 0, waitMs: 0, retryAfter: 2, ...bounds }
    this.#free = bounds.running
  }

  tryEnter(network = ''): Leave | null {
    if (this.#free === 0 || (this.#runningOf.get(network) ?? 0) >= this.#bounds.each) return null
    this.#free--
    count(this.#runningOf, network, 1)
    let isIn = true
    return () => {
      if (isIn) this.#leave(network)
      isIn = false
    }
  }

  /** Calls `settle` once there is a slot, or with null. The returned function cancels the wait. */
  enter({ network = '', isFirst = false }: Asked, settle: Settle): () => void {
    const { running, each, waiting, waitMs } = this.#bounds
    const leave = this.tryEnter(network)
    const isFull = this.#first.size + this.#next.size >= waiting
    // A network gets the same share of the waiting tasks as of the running ones.
    if (leave || isFull || (this.#waitingOf.get(network) ?? 0) >= (waiting * each) / running) {
      settle(leave)
      return () => {}
    }
    const timer = setTimeout(() => {
      this.#stopWaiting(caller)
      settle(null)
    }, waitMs)
    const line = isFirst ? this.#first : this.#next
    const caller = { network, settle: AsyncLocalStorage.bind(settle), timer, line }
    line.add(caller)
    count(this.#waitingOf, network, 1)
    return () => this.#stopWaiting(caller)
  }

  #stopWaiting(caller: Waiting): void {
    clearTimeout(caller.timer)
    if (caller.line.delete(caller)) count(this.#waitingOf, caller.network, -1)
  }

  /** Runs a task in a slot. Throws UNAVAILABLE if none is free in time. */
  async run<T>(task: () => Promise<T>, network = ''): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<Leave | null>()
    this.enter({ network }, resolve)
    const leave = await promise
    if (!leave) throw this.refusal()
    try {
      return await task()
    } finally {
      leave()
    }
  }

  refusal(): AppError {
    const { message, retryAfter } = this.#bounds
    return new AppError('UNAVAILABLE', { message, retryAfter })
  }

  #leave(network: string): void {
    // The slot is freed in the next turn of the event loop, so that no turn begins too many tasks.
    if (this.#ended.length === 0) setImmediate(() => this.#admit())
    this.#ended.push(network)
  }

  #admit(): void {
    for (const network of this.#ended) count(this.#runningOf, network, -1)
    this.#free += this.#ended.length
    this.#ended = []
    for (const line of [this.#first, this.#next]) {
      for (const caller of line) {
        if (this.#free === 0) return
        const leave = this.tryEnter(caller.network)
        if (!leave) continue
        this.#stopWaiting(caller)
        caller.settle(leave)
      }
    }
  }
}

function count(tasksOf: Map<string, number>, network: string, change: 1 | -1): void {
  const tasks = (tasksOf.get(network) ?? 0) + change
  if (tasks > 0) tasksOf.set(network, tasks)
  else tasksOf.delete(network)
}

type Lane = 'call' | 'page' | 'stream'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's lane; `call` unless set. */
    lane?: Lane | 'none' | ((request: FastifyRequest) => Lane)
  }
  interface FastifyRequest {
    /** Frees the request's slot; null if it got none. */
    leaveLane: Leave | null | undefined
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
const ABANDONED_MS = 10_000
const STREAM_RETRY_SECONDS = 60
const REPORT_MS = 10_000

/** Admits each request to its route's lane once its body was read. The answer frees its slot. */
export function addLanes(app: FastifyInstance, options: LaneOptions): void {
  const lanes = new Lanes(options)
  app.decorateRequest('leaveLane', undefined)
  app.addHook('onRequest', (request, reply, done) =>
    hasBody(request.raw) ? done() : lanes.enter(request, reply, done),
  )
  app.addHook('preValidation', (request, reply, done) =>
    hasBody(request.raw) ? lanes.enter(request, reply, done) : done(),
  )
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.leaveLane?.()
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

  enter(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const { lane: named = 'call' } = request.routeOptions.config
    if (named === 'none') return void done()
    const lane = typeof named === 'function' ? named(request) : named
    const { raw } = reply
    // The client has gone, so no event would free the slot.
    if (raw.destroyed) return
    const isFirst = this.#options.connections.isFirst(request.raw)
    const asked = { network: widestNetworkOf(request.ip), isFirst }
    const giveUp = this.#gates[lane].enter(asked, (leave) => {
      request.leaveLane = leave
      if (leave) done()
      else this.#refuse(lane, request, reply)
    })
    raw.once('close', () => {
      const { leaveLane } = request
      if (!leaveLane) giveUp()
      else if (reply.sent) leaveLane()
      // The handler still runs. Its answer frees the slot, unless the answer has no body.
      else setTimeout(leaveLane, ABANDONED_MS).unref()
    })
  }

  #refuse(lane: Lane, { raw }: FastifyRequest, reply: FastifyReply): void {
    const { fastPath, refusals } = this.#options
    reply.hijack()
    if (fastPath.serveStale(raw, reply.raw)) return
    const refusal = refusals.unavailable(raw)
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
