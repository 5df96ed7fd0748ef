import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { appForTest, type TestApp } from '../testing/test-app.ts'

/** Sends a request and resets the connection before the server can look at it. */
async function sendAndReset({ url }: TestApp, path: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, () => socket.resetAndDestroy())
  await closed
}

test.each([
  ['by the connection', []],
  ['by the proxy', ['127.0.0.1/32']],
])(
  'a connection that is reset at once harms nobody, where visitors are known %s',
  async (_, trustProxy) => {
    const app = await appForTest({ config: { trustProxy } })
    const { id } = await app.publish(await app.signUp())
    for (const path of ['/posts', `/posts/${id}`, '/users/current']) {
      // The second time it is answered from what is kept.
      for (let round = 0; round < 2; round++) await app.call('GET', path)
      await Promise.all(Array.from({ length: 20 }, () => sendAndReset(app, `/api/v1${path}`)))
      await sendAndReset(app, `/posts/${id}`)
    }
    expect((await app.call('GET', `/posts/${id}`)).status).toBe(200)
    expect(app.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  },
)
