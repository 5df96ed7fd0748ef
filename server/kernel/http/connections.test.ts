import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { openSocket } from '../../testing/http/raw-http.ts'
import { listen } from '../../testing/process/free-port.ts'
import { appForTest, startTestApp, type TestApp, testPerNode } from '../../testing/test-app.ts'
import { Connections } from './connections.ts'
import { withHandlerDeadline } from './server.ts'

const perNode = testPerNode('bytes that a balancer would judge before any node')

const MOST = 8
/** More than the kernel keeps for a client that does not read. */
const LONG = Buffer.alloc(32_000_000)

/** A server of few connections, which answers once the body has come. */
async function crowdedServer() {
  const connections = new Connections(MOST)
  const server = createServer(
    connections.inTurn((request, response) => {
      request.resume().on('end', () => response.end(request.url === '/long' ? LONG : 'ok'))
      request.on('error', () => {})
    }),
  )
  connections.watch(server)
  onTestFinished(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${await listen(server)}`, server }
}

test.each([
  ['bodies that do not come', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n'],
  ['answers that nobody reads', 'GET /long HTTP/1.1\r\nHost: x\r\n\r\n'],
])('%s take no connection from others for longer than a second', async (_what, request) => {
  const { url, server } = await crowdedServer()
  const began = performance.now()
  for (let n = 0; n < MOST; n++) {
    const socket = await openSocket(url)
    socket.on('error', () => {})
    socket.write(request)
    await once(server, 'request')
  }
  const isServed = async () => (await fetch(url, { headers: { connection: 'close' } })).ok
  await expect.poll(isServed, { timeout: 10_000 }).toBe(true)
  expect(performance.now() - began).toBeGreaterThan(900)
  expect(await isServed()).toBe(true)
})

perNode(
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
    await expect.poll(() => app.http.server.listening).toBe(false)
    ask()
    await closed
    expect(heard.join('')).toMatch(/^HTTP\/1.1 200 .*HTTP\/1.1 200 .*\r\nConnection: close\r\n/s)
  },
)

/** Sends a request and resets the connection before the server can read it. */
async function sendAndReset({ url }: TestApp, path: string): Promise<void> {
  const socket = await openSocket(url)
  const closed = once(socket, 'close')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, () => socket.resetAndDestroy())
  await closed
}

test.each([
  ['by the connection', []],
  ['by the proxy', ['127.0.0.1/32']],
])(
  'a connection that is reset at once does no harm, where visitors are known %s',
  async (_, trustProxy) => {
    const app = await appForTest({ config: { trustProxy } })
    const { id } = await app.publish(await app.signUp())
    for (const path of ['/posts', `/posts/${id}`, '/users/current']) {
      // The second read is served from the cache.
      for (let round = 0; round < 2; round++) await app.call('GET', path)
      await Promise.all(Array.from({ length: 20 }, () => sendAndReset(app, `/api/v1${path}`)))
      await sendAndReset(app, `/posts/${id}`)
    }
    expect((await app.call('GET', `/posts/${id}`)).status).toBe(200)
    expect(app.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  },
)

perNode('a connection reset in the middle of a body is not logged as an outage', async () => {
  const app = await appForTest()
  for (let round = 0; round < 10; round++) {
    const socket = await openSocket(app.url)
    const arrived = once(app.http.server, 'request')
    socket.write('POST /api/v1/logins HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n')
    socket.write('Content-Length: 90\r\n\r\n{')
    const [request] = (await arrived) as [IncomingMessage]
    const closed = new Promise((resolve) => request.once('close', resolve))
    socket.resetAndDestroy()
    await closed
  }
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
  expect(app.logged.filter((logged) => /"level":"(error|warn)"/.test(logged))).toEqual([])
})

test('work that takes longer than 8 s is UNAVAILABLE', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const outcome = withHandlerDeadline(new Promise(() => {})).catch((error) => error.code)
  const first = Promise.race([outcome, vi.advanceTimersByTimeAsync(7999).then(() => 'at work')])
  expect(await first).toBe('at work')
  await vi.advanceTimersByTimeAsync(1)
  expect(await outcome).toBe('UNAVAILABLE')
})

test('a read or a write that takes longer than a call may is UNAVAILABLE', async () => {
  const { databaseUrl, db, signUp, publish } = await appForTest()
  const olga = await signUp()
  const { id } = await publish(olga)
  const { token } = olga
  const app = await appForTest({ databaseUrl, handleMs: 100 })
  const held = await db.startTransaction().execute()
  onTestFinished(async () => void (await held.rollback().execute()))
  await sql`LOCK TABLE posts`.execute(held)
  const answers = await Promise.all([
    app.call('GET', '/posts?filter=liked', { token }),
    app.call('GET', `/posts/${id}`),
    app.call('PATCH', `/posts/${id}`, { token, body: { text: 'Иначе' } }),
  ])
  for (const answer of answers) expectRefusal(answer, 'UNAVAILABLE')
})
