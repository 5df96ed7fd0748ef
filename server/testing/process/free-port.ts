import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Lets a server listen on this machine, by default on a free port. Returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export async function freePort(): Promise<number> {
  const probe = createServer()
  const port = await listen(probe)
  probe.close()
  await once(probe, 'close')
  return port
}
