import { once } from 'node:events'
import {
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  ServerResponse,
} from 'node:http'
import type { Server, Socket } from 'node:net'

type ProcessReport = { userLimits?: { open_files: { soft: number | 'unlimited' } } }

type Connection = {
  /** The response in progress. A former one would keep its request in memory. */
  response: ServerResponse | undefined
  requests: number
  /** Pipelined requests that wait for the one before them. */
  waiting: number
  /** When the newest request began, or the connection was opened, by performance.now(). */
  usedAt: number
}

const WAITING_MAX = 32
/** Above this fraction of the maximum, each new connection replaces an idle or slow one. */
const CROWDED = 0.75
/** Above that fraction, a client that takes longer to send or to read may lose its connection. */
const SLOW_MS = 1000
const CHECK_MS = 50
const RESERVED_FILES = 64
const CONNECTIONS_MAX = 4096
const CONNECTIONS_MIN = 16
/** Read once: the report, which contains every handle of the process, takes long to make. */
const CONNECTIONS_LIMIT = connectionsLimit()

/** Serves each connection one request at a time, and makes room by closing idle ones. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  readonly #max: number
  #isEnding = false

  constructor(max = CONNECTIONS_LIMIT) {
    this.#max = max
  }

  isIdle(socket: Socket): boolean {
    const connection = this.#open.get(socket)
    return connection !== undefined && connection.waiting === 0 && !connection.response
  }

  isFirst({ socket }: IncomingMessage): boolean {
    return this.#open.get(socket)?.requests === 1
  }

  watch(server: HttpServer): HttpServer {
    return server.on('connection', (socket: Socket) => {
      if (this.#open.size >= this.#max * CROWDED) this.#makeRoom()
      if (this.#open.size >= this.#max) return void socket.destroy()
      const connection: Connection = {
        response: undefined,
        requests: 0,
        waiting: 0,
        usedAt: performance.now(),
      }
      this.#open.set(socket, connection)
      socket.once('close', () => this.#open.delete(socket))
    })
  }

  /** Wraps a listener so that a pipelined request begins after the response before it. */
  inTurn(listener: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request
      const connection = this.#open.get(socket)
      if (!connection) return
      const begin = () => {
        if (!this.#open.has(socket)) return
        connection.response = response.once('close', () => {
          connection.response = undefined
        })
        connection.requests++
        connection.usedAt = performance.now()
        if (this.#isEnding) response.shouldKeepAlive = false
        listener(request, response)
      }
      // Node gives a response its socket once those before it have ended.
      if (response.socket) return begin()
      if (connection.waiting >= WAITING_MAX) return void socket.destroy()
      connection.waiting++
      response.once('socket', () => {
        connection.waiting--
        // Deferred, because Node is still assigning the socket.
        setImmediate(begin)
      })
    }
  }

  /** Destroys the connections whose response in progress is to such a request. */
  cut(isCut: (request: IncomingMessage) => boolean): void {
    for (const [socket, { response }] of this.#open) {
      if (response && isCut(response.req)) socket.destroy()
    }
  }

  /** Closes idle connections `graceMs` after their last use. Resolves after `cutMs` at most. */
  async end(
    servers: Server[],
    { graceMs, cutMs }: { graceMs: number; cutMs: number },
  ): Promise<void> {
    this.#isEnding = true
    const closed = servers.map((server) => once(server, 'close'))
    for (const server of servers) server.close()
    for (const { response } of this.#open.values()) {
      if (response && !response.headersSent) response.shouldKeepAlive = false
    }
    this.#closeIdle(graceMs)
    const checking = setInterval(() => this.#closeIdle(graceMs), CHECK_MS)
    const cut = setTimeout(() => {
      for (const socket of this.#open.keys()) socket.destroy()
    }, cutMs)
    await Promise.all(closed)
    clearInterval(checking)
    clearTimeout(cut)
  }

  #makeRoom(): void {
    const slowSince = performance.now() - SLOW_MS
    let oldest: Socket | undefined
    let usedAt = Number.POSITIVE_INFINITY
    for (const [socket, connection] of this.#open) {
      if (connection.usedAt >= usedAt) continue
      const { response } = connection
      if (response && !(connection.usedAt < slowSince && isSlow(response))) continue
      oldest = socket
      usedAt = connection.usedAt
    }
    if (!oldest) return
    this.#open.delete(oldest)
    oldest.destroy()
  }

  #closeIdle(unusedForMs: number): void {
    const before = performance.now() - unusedForMs
    for (const [socket, connection] of this.#open) {
      if (!connection.response && connection.usedAt <= before) socket.destroy()
    }
  }
}

/** Returns whether a part of the body has not come, or a part of the response is not read. */
function isSlow({ req, writableLength }: ServerResponse): boolean {
  return !req.complete || writableLength > 0
}

/** Counts two open files for a connection: its socket, and a file that it may read. */
function connectionsLimit(): number {
  const report = Object.assign(process.report, { excludeNetwork: true })
  const files = (report.getReport() as ProcessReport).userLimits?.open_files.soft
  if (typeof files !== 'number') return CONNECTIONS_MAX
  const fitting = Math.floor((files - RESERVED_FILES) / 2)
  return Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, fitting))
}

/** A response that closes its connection if it begins before the request's body has arrived. */
export class ClosingResponse extends ServerResponse {
  override writeHead(...head: unknown[]): this {
    // Node would discard a proxy's next request as the rest of the body.
    if (!this.req.complete && hasBody(this.req)) this.shouldKeepAlive = false
    return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>))
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
}
