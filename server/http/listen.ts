import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'

export type Place = { port: number; host: string }

/** Connections the system may hold until they are taken; past it, callers who come at once would wait for seconds. */
const BACKLOG = 4096
/**
 * Node takes one connection from a listening socket in each turn of its event loop, and a busy server's turns are long:
 * newcomers would wait behind all who come again. With more sockets it takes as many in a turn.
 */
const SOCKETS = process.platform === 'linux' ? 32 : 1

/**
 * Listens by `listen`, which takes the options of net.Server.listen, and by further sockets that hand their connections
 * to the server. Resolves to those sockets. Rejects as listening does, also where another process has the port.
 */
export async function listenManifold(
  server: HttpServer,
  { port, host }: Place,
  listen: (options: Place & { backlog: number; reusePort: boolean }) => Promise<unknown>,
): Promise<Server[]> {
  const options = { host, backlog: BACKLOG, reusePort: SOCKETS > 1 }
  // A shared port would be shared with a second process too, and neither would know.
  if (port !== 0 && options.reusePort) await expectFree({ port, host })
  await listen({ ...options, port })
  const taken = { ...options, port: (server.address() as AddressInfo).port }
  return Promise.all(Array.from({ length: SOCKETS - 1 }, () => openSocket(server, taken)))
}

async function openSocket(server: HttpServer, options: Place): Promise<Server> {
  // As an HTTP server opens its own.
  const socket = createServer({ allowHalfOpen: true, noDelay: true }, (connection) => {
    server.emit('connection', connection)
  })
  socket.listen(options)
  await once(socket, 'listening')
  return socket
}

async function expectFree(place: Place): Promise<void> {
  const probe = createServer().listen(place)
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}
