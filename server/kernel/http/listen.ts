import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

export type ListenAddress = { port: number; host: string }

const BACKLOG = 4096
/** The number of sockets: Node accepts one connection of each in a turn of its event loop. */
const SOCKETS = process.platform === 'linux' ? 32 : 1

/** Returns the sockets besides the app's own. Rejects if another process uses the port. */
export async function listenOnManySockets(
  app: FastifyInstance,
  { port, host }: ListenAddress,
): Promise<Server[]> {
  const options = { host, backlog: BACKLOG, reusePort: SOCKETS > 1 }
  // With reusePort a second process could share the port, and neither would notice.
  if (port !== 0 && options.reusePort) await requireFreePort({ port, host })
  await app.listen({ ...options, port })
  const taken = { ...options, port: (app.server.address() as AddressInfo).port }
  return Promise.all(Array.from({ length: SOCKETS - 1 }, () => openSocket(app.server, taken)))
}

async function openSocket(server: HttpServer, options: ListenAddress): Promise<Server> {
  const socket = createServer({ allowHalfOpen: true, noDelay: true }, (connection) => {
    server.emit('connection', connection)
  })
  socket.listen(options)
  await once(socket, 'listening')
  return socket
}

async function requireFreePort(address: ListenAddress): Promise<void> {
  const probe = createServer().listen(address)
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}
