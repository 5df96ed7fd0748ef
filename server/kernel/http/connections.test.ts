import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../testing/free-port.ts'
import { openSocket } from '../../testing/raw-http.ts'
import { Connections } from './connections.ts'

const MOST = 8
const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n'

/** A server of few connections, which answers once the body has come. */
async function crowdedServer() {
  const connections = new Connections(MOST)
  const server = createServer(
    connections.inTurn((request, response) => {
      request.resume().on('end', () => response.end('ok'))
      request.on('error', () => {})
    }),
  )
  connections.watch(server)
  onTestFinished(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${await listen(server)}`, server }
}

test('bodies that do not come take no connection from others for longer than a second', async () => {
  const { url, server } = await crowdedServer()
  const began = performance.now()
  for (let n = 0; n < MOST; n++) {
    const socket = await openSocket(url)
    socket.on('error', () => {})
    socket.write(HEAD)
    await once(server, 'request')
  }
  const isServed = () =>
    fetch(url, { headers: { connection: 'close' } }).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(isServed, { timeout: 10_000 }).toBe(true)
  expect(performance.now() - began).toBeGreaterThan(900)
  expect(await isServed()).toBe(true)
})
