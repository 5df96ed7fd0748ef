import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'

export type ListenAddress = { port: number; host: string }

const BACKLOG = 4096
/** Node accepts one connection per socket in a turn of its event loop, which is long under load. */
const SOCKETS = process.platform === 'linux' ? 32 : 1

/** Listens by `listen` and on further sockets. Rejects if another process uses the port. */
export async function listenOnManySockets(
  server: HttpServer,
  { port, host }: ListenAddress,
  listen: (options: ListenAddress & { backlog: number; reusePort: boolean }) => Promise<unknown>,
): Promise<Server[]> {
  const options = { host, backlog: BACKLOG, reusePort: SOCKETS > 1 }
  // With reusePort a second process could share the port, and neither would notice.
  if (port !== 0 && options.reusePort) await requireFreePort({ port, host })
  await listen({ ...options, port })
  const taken = { ...options, port: (server.address() as AddressInfo).port }
  return Promise.all(Array.from({ length: SOCKETS - 1 }, () => openSocket(server, taken)))
}

async function openSocket(server: HttpServer, options: ListenAddress): Promise<Server> {
  // The options with which an HTTP server opens its own socket.
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
