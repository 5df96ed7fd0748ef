import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { openSocket } from '../../testing/raw-http.ts'
import { appForTest, type TestApp, testPerNode } from '../../testing/test-app.ts'

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

const perNode = testPerNode('bytes that a balancer would judge before any node')

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
