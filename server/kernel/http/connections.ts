import { once } from 'node:events'
import type { Server as HttpServer, RequestListener, ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'

type ProcessReport = { userLimits?: { open_files: { soft: number | 'unlimited' } } }

type Connection = {
  /** The response to the newest request that has begun. */
  response: ServerResponse | undefined
  requests: number
  /** Pipelined requests that wait for the one before them. */
  waiting: number
  /** When the newest request began, or the connection was opened, by performance.now(). */
  usedAt: number
}

/** How many pipelined requests may wait on one connection; no client that we know of sends more. */
const WAITING_MAX = 32
/** Above this fraction of the maximum, each new connection replaces the one that has been idle for longest. */
const CROWDED = 0.75
const CHECK_MS = 50
/** Files for the database's connections, mail, the log, and Node itself. */
const RESERVED_FILES = 64
const CONNECTIONS_MAX = 4096
const CONNECTIONS_MIN = 16

/**
 * Manages a server's connections, of which there may be `max`: each is served one request at a time, idle ones make room
 * for new ones, and all of them are closed gracefully when the server stops.
 */
export function createConnections(max: number) {
  const open = new Map<Socket, Connection>()
  let isEnding = false

  function begin(socket: Socket, response: ServerResponse): boolean {
    const connection = open.get(socket)
    if (!connection) return false
    connection.response = response
    connection.requests++
    connection.usedAt = performance.now()
    if (isEnding) response.shouldKeepAlive = false
    return true
  }

  /** Closes the connection that has been idle for longest. To keep them in order would cost each request more. */
  function makeRoom(): void {
    let oldest: Socket | undefined
    let usedAt = Number.POSITIVE_INFINITY
    for (const [socket, connection] of open) {
      if (connection.usedAt >= usedAt || !isIdle(connection)) continue
      oldest = socket
      usedAt = connection.usedAt
    }
    oldest?.destroy()
  }

  function closeIdle(unusedForMs: number): void {
    const before = performance.now() - unusedForMs
    for (const [socket, connection] of open) {
      if (isIdle(connection) && connection.usedAt <= before) socket.destroy()
    }
  }

  return {
    /** Whether the connection has had only one request. */
    isFirst: (socket: Socket): boolean => open.get(socket)?.requests === 1,

    /** Manages the connections of a server from now on, whichever socket accepted them. */
    watch(server: HttpServer): HttpServer {
      return server.on('connection', (socket: Socket) => {
        if (open.size >= max) return void socket.destroy()
        if (open.size >= max * CROWDED) makeRoom()
        const usedAt = performance.now()
        open.set(socket, { response: undefined, requests: 0, waiting: 0, usedAt })
        socket.once('close', () => open.delete(socket))
      })
    },

    /**
     * Wraps a listener so that a pipelined request begins once the response before it has left the server: for a client
     * that does not read, one response at most waits in memory.
     */
    inTurn(listener: RequestListener): RequestListener {
      return (request, response) => {
        const { socket } = request
        // Node assigns the connection to a response only when those before it have ended.
        if (response.socket) {
          if (begin(socket, response)) listener(request, response)
          return
        }
        const connection = open.get(socket)
        if (!connection) return
        if (connection.waiting >= WAITING_MAX) return void socket.destroy()
        connection.waiting++
        response.once('socket', () => {
          connection.waiting--
          // Not synchronously: Node is still assigning the connection.
          setImmediate(() => {
            if (begin(socket, response)) listener(request, response)
          })
        })
      }
    },

    /**
     * Stops these servers from accepting connections. From now on responses announce that their connection closes, and
     * idle connections are closed `graceMs` after their last use. Resolves when all are closed, after `cutMs` at most.
     */
    async end(servers: Server[], { graceMs, cutMs }: { graceMs: number; cutMs: number }) {
      isEnding = true
      const closed = servers.map((server) => once(server, 'close'))
      // Not by the HTTP server's own method, which closes idle connections at once, even with a request on its way.
      for (const server of servers) Server.prototype.close.call(server)
      for (const { response } of open.values()) {
        if (response && !response.headersSent) response.shouldKeepAlive = false
      }
      closeIdle(graceMs)
      const checking = setInterval(closeIdle, CHECK_MS, graceMs)
      const cut = setTimeout(() => {
        for (const socket of open.keys()) socket.destroy()
      }, cutMs)
      await Promise.all(closed)
      clearInterval(checking)
      clearTimeout(cut)
    },
  }
}

function isIdle({ response }: Connection): boolean {
  return !response || response.writableFinished
}

/** Returns how many files this process may have open; Node has raised the soft limit to the hard one. */
function openFilesLimit(): number {
  // The report's part on the network can take long.
  const report = Object.assign(process.report, { excludeNetwork: true })
  const limit = (report.getReport() as ProcessReport).userLimits?.open_files.soft
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
}

/**
 * Returns how many connections a server may have: each is an open file, and may be reading another one. More than some
 * thousand would only cost memory, since idle ones make room.
 */
export function connectionsLimit(): number {
  const fitting = Math.floor((openFilesLimit() - RESERVED_FILES) / 2)
  return Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, fitting))
}
