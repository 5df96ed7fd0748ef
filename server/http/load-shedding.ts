import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Refusal, sendRefusal } from './refusal.ts'

type Options = {
  refusal: Refusal
  /** Whether this is the first request on its connection. */
  isFirst: (socket: Socket) => boolean
  log: FastifyBaseLogger
}
type Waiting = { since: number; begin: () => void }

/** How many requests run at once, about three for each database connection: more would only wait there. */
const RUNNING_MAX = 64
/** A request that has waited so long for its turn is refused. */
const WAIT_MS = 500
const CHECK_MS = 50
/** Refusals in one check: clients that retry at once must not keep the server busy with refusing them. */
const REFUSALS_MAX = 50
const REPORT_MS = 10_000

/**
 * Bounds the number of running requests. A request runs from when its body has arrived until its response is sent or its
 * client has gone. Requests past the bound wait half a second at most and are then refused; the first request on a
 * connection goes before those of clients that have been served already.
 */
export function createLoadShedding({ refusal, isFirst, log }: Options) {
  const running = new Set<ServerResponse>()
  // Both in the order of arrival.
  const first = new Map<ServerResponse, Waiting>()
  const next = new Map<ServerResponse, Waiting>()
  const late = new Set<ServerResponse>()
  let freePlaces = RUNNING_MAX
  let ended = 0
  let checking: NodeJS.Timeout | undefined
  let refused = 0

  function enter({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    // The client has gone, and no event would free the place again.
    if (response.destroyed) return
    response.once('close', () => leave(response))
    if (freePlaces > 0) {
      run(response, begin)
      return
    }
    const line = isFirst(socket) ? first : next
    line.set(response, { since: performance.now(), begin })
    checking ??= setInterval(checkWaiting, CHECK_MS)
  }

  function run(response: ServerResponse, begin: () => void): void {
    freePlaces--
    running.add(response)
    begin()
  }

  /** Frees the place of a request, or its place in the queue; further calls have no effect. */
  function leave(response: ServerResponse): void {
    if (running.delete(response)) {
      // The place is free in the next turn of the event loop, so that no turn begins more requests than there are places.
      if (ended++ === 0) setImmediate(runWaiting)
      return
    }
    first.delete(response)
    next.delete(response)
    late.delete(response)
  }

  function runWaiting(): void {
    freePlaces += ended
    ended = 0
    for (const line of [first, next]) {
      moveLate(line)
      for (const [response, { begin }] of line) {
        if (freePlaces === 0) break
        line.delete(response)
        run(response, begin)
      }
    }
  }

  function moveLate(line: Map<ServerResponse, Waiting>): void {
    const longAgo = performance.now() - WAIT_MS
    for (const [response, { since }] of line) {
      if (since > longAgo) break
      line.delete(response)
      late.add(response)
    }
  }

  /** Runs and refuses waiting requests, also when no running request ends. */
  function checkWaiting(): void {
    runWaiting()
    let left = REFUSALS_MAX
    for (const response of late) {
      if (left-- === 0) break
      late.delete(response)
      sendRefusal(response, refusal)
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
    /** Wraps a listener: requests without a body reach it when there is a place, the others at once. */
    guard:
      (listener: RequestListener): RequestListener =>
      (request, response) => {
        if (hasBody(request) || isHealthCheck(request.url)) return listener(request, response)
        enter(request, response, () => listener(request, response))
      },

    /** Assigns a place to each request with a body when that has been read, and frees every place. */
    addHooks(app: FastifyInstance): void {
      app.addHook('preValidation', (request, reply, done) => {
        const isIn = running.has(reply.raw) || isHealthCheck(request.url)
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

/** Health checks are always answered, so that a busy node is not taken for a dead one. */
function isHealthCheck(url: string | undefined): boolean {
  return url === '/livez' || url === '/readyz'
}
