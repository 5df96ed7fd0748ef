import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Lets a server listen on this machine, by default on a free port. Returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Below the ports that systems give to outgoing connections: one could take it in the meantime. */
const PORTS = { from: 16_384, to: 32_768 }
/** Processes whose ids are near each other have ports of their own. */
const PORTS_OF_PROCESS = 32
let tried = 0

/** Returns a port for a server that starts later; neither this nor a neighbouring process uses it. */
export async function freePort(tries = PORTS_OF_PROCESS): Promise<number> {
  const own = process.pid * PORTS_OF_PROCESS + (tried++ % PORTS_OF_PROCESS)
  const port = PORTS.from + (own % (PORTS.to - PORTS.from))
  await using probe = createServer()
  try {
    await listen(probe, port)
  } catch (error) {
    if (tries === 1) throw error
    return freePort(tries - 1)
  }
  return port
}
