import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../testing/free-port.ts'
import { openSocket } from '../../testing/raw-http.ts'
import { startTestApp, testPerNode } from '../../testing/test-app.ts'
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

testPerNode('bytes that a balancer would judge before any node')(
  'a stopping server answers the next request of an idle connection with Connection: close',
  async () => {
    const app = await startTestApp()
    const socket = await openSocket(app.url)
    onTestFinished(() => void socket.destroy())
    const heard: string[] = []
    socket.on('data', (chunk) => heard.push(String(chunk)))
    const ask = () => socket.write('GET /api/v1/posts HTTP/1.1\r\nHost: x\r\n\r\n')
    ask()
    await expect.poll(() => heard.length).toBe(1)
    const closed = app.close(1000)
    await delay(250)
    ask()
    await closed
    expect(heard.join('')).toMatch(/^HTTP\/1.1 200 .*HTTP\/1.1 200 .*\r\nConnection: close\r\n/s)
  },
)
