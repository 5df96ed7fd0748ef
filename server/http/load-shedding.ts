import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Refusal, sendRefusal } from './refusal.ts'

type Options = {
  refusal: Refusal
  /** Whether no request came before this one on its connection. */
  isFirst: (socket: Socket) => boolean
  log: FastifyBaseLogger
}
type Waiting = { since: number; begin: () => void }

/** Requests at work at once, some three for each connection to the database: more would only wait there. */
const AT_WORK_MAX = 64
/** A request that has waited so long for others to be done is refused. */
const WAIT_MS = 500
const LOOK_MS = 50
/** Refusals in a look: a crowd that asks again at once must not keep the server busy with refusing it. */
const REFUSALS = 50
const REPORT_MS = 10_000

/**
 * Bounds the requests at work. One counts from when it can be worked on, its body being there, until its answer is
 * handed over, or its client went away. Those past the bound wait half a second at most and are then refused; whoever
 * has just come is let in before those that were answered on their connection already.
 */
export function createLoadShedding({ refusal, isFirst, log }: Options) {
  const atWork = new Set<ServerResponse>()
  // In the order in which they came.
  const first = new Map<ServerResponse, Waiting>()
  const next = new Map<ServerResponse, Waiting>()
  const late = new Set<ServerResponse>()
  let places = AT_WORK_MAX
  let ended = 0
  let look: NodeJS.Timeout | undefined
  let refused = 0

  function enter({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    // Nobody is there any more to be answered, and nothing would take the place back.
    if (response.destroyed) return
    response.once('close', () => leave(response))
    if (places > 0) {
      work(response, begin)
      return
    }
    const line = isFirst(socket) ? first : next
    line.set(response, { since: performance.now(), begin })
    look ??= setInterval(lookAround, LOOK_MS)
  }

  function work(response: ServerResponse, begin: () => void): void {
    places--
    atWork.add(response)
    begin()
  }

  /** Safe to call again. */
  function leave(response: ServerResponse): void {
    if (atWork.delete(response)) {
      // A place is free in the next turn of the event loop: none of them begins more requests than there are places.
      if (ended++ === 0) setImmediate(takeTurn)
      return
    }
    first.delete(response)
    next.delete(response)
    late.delete(response)
  }

  function takeTurn(): void {
    places += ended
    ended = 0
    for (const line of [first, next]) {
      setLateAside(line)
      for (const [response, { begin }] of line) {
        if (places === 0) break
        line.delete(response)
        work(response, begin)
      }
    }
  }

  function setLateAside(line: Map<ServerResponse, Waiting>): void {
    const longAgo = performance.now() - WAIT_MS
    for (const [response, { since }] of line) {
      if (since > longAgo) break
      line.delete(response)
      late.add(response)
    }
  }

  /** Looks after those who wait, whether or not anybody makes room for them. */
  function lookAround(): void {
    takeTurn()
    let left = REFUSALS
    for (const response of late) {
      if (left-- === 0) break
      late.delete(response)
      sendRefusal(response, refusal)
      if (refused++ === 0) setTimeout(report, REPORT_MS).unref()
    }
    if (first.size + next.size + late.size > 0) return
    clearInterval(look)
    look = undefined
  }

  function report(): void {
    log.warn({ refused }, 'requests were refused: too many at once')
    refused = 0
  }

  return {
    /** Wraps a listener: requests without a body come to it when there is a place, the others at once. */
    guard:
      (listener: RequestListener): RequestListener =>
      (request, response) => {
        if (hasBody(request) || isHealthCheck(request.url)) return listener(request, response)
        enter(request, response, () => listener(request, response))
      },

    /** Gives a place to requests with a body once it was read, and takes every place back. */
    addHooks(app: FastifyInstance): void {
      app.addHook('preValidation', (request, reply, done) => {
        const isIn = atWork.has(reply.raw) || isHealthCheck(request.url)
        if (isIn) done()
        else enter(request.raw, reply.raw, done)
      })
      app.addHook('onSend', (_request, reply, _payload, done) => {
        leave(reply.raw)
        done()
      })
    },
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
}

/** Always answered, so that a busy node is not taken for a dead one. */
function isHealthCheck(url: string | undefined): boolean {
  return url === '/livez' || url === '/readyz'
}
