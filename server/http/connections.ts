import { once } from 'node:events'
import type { Server as HttpServer, RequestListener, ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'

type Connection = {
  /** The answer to its newest request that was begun. */
  response: ServerResponse | undefined
  requests: number
  /** Requests that were sent ahead and wait for the one before. */
  waiting: number
  /** When its newest request was begun, or it was opened, by performance.now(). */
  usedAt: number
}

/** Requests sent ahead on one connection that may wait; a client that sends more is not one we know of. */
const WAITING_MAX = 32
/** From this share of the most connections on, each new one takes the place of the one that is idle for longest. */
const CROWDED = 0.75
const LOOK_MS = 50

/**
 * Looks after a server's connections, of which there may be `max`: each is answered one request at a time, idle ones
 * make room for new ones, and all of them end in peace when the server stops.
 */
export function createConnections(max: number) {
  /** The least recently used first. */
  const open = new Map<Socket, Connection>()
  let isEnding = false

  function begin(socket: Socket, response: ServerResponse): boolean {
    const connection = open.get(socket)
    if (!connection) return false
    open.delete(socket)
    open.set(socket, connection)
    connection.response = response
    connection.requests++
    connection.usedAt = performance.now()
    if (isEnding) response.shouldKeepAlive = false
    return true
  }

  function makeRoom(): void {
    for (const [socket, connection] of open) {
      if (isIdle(connection)) return void socket.destroy()
    }
  }

  function closeIdle(unusedForMs: number): void {
    const before = performance.now() - unusedForMs
    for (const [socket, connection] of open) {
      if (isIdle(connection) && connection.usedAt <= before) socket.destroy()
    }
  }

  return {
    /** Whether no request came before this one on its connection. */
    isFirst: (socket: Socket): boolean => open.get(socket)?.requests === 1,

    /** Looks after the connections of a server from now on, whoever took them. */
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
     * Wraps a listener so that a request sent ahead begins once the answer before it has left the server: a client that
     * does not read has one answer waiting for it, whatever it asks for.
     */
    inTurn(listener: RequestListener): RequestListener {
      return (request, response) => {
        const { socket } = request
        // Node gives an answer the connection only when those before it are through.
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
          // Not at once: Node is still giving it the connection.
          setImmediate(() => {
            if (begin(socket, response)) listener(request, response)
          })
        })
      }
    },

    /**
     * Lets these servers take no more connections. Answers say from now on that theirs closes; idle ones are closed once `keptMs` have
     * passed since they were last used. Resolves when all are closed, after `cutMs` at most.
     */
    async end(servers: Server[], { keptMs, cutMs }: { keptMs: number; cutMs: number }) {
      isEnding = true
      const closed = servers.map((server) => once(server, 'close'))
      // Not by their own method: an HTTP server closes its idle connections then, whatever is on its way on them.
      for (const server of servers) Server.prototype.close.call(server)
      for (const { response } of open.values()) {
        if (response && !response.headersSent) response.shouldKeepAlive = false
      }
      closeIdle(keptMs)
      const look = setInterval(closeIdle, LOOK_MS, keptMs)
      const cut = setTimeout(() => {
        for (const socket of open.keys()) socket.destroy()
      }, cutMs)
      await Promise.all(closed)
      clearInterval(look)
      clearTimeout(cut)
    },
  }
}

function isIdle({ response }: Connection): boolean {
  return !response || response.writableFinished
}
