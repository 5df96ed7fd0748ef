import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { openSocket, readToEnd } from '../../testing/raw-http.ts'
import { appForTest, type TestApp, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('bytes that a balancer would judge before any node')

const DOCUMENT = 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'
/** How many requests of a connection may wait behind the one that is being answered. */
const WAITING_MAX = 32

/** Opens a connection whose client never reads; returns both of its ends. */
async function openDeaf(app: TestApp, sent: string): Promise<{ client: Socket; held: Socket }> {
  const arrived = once(app.http.server, 'connection')
  const client = await openSocket(app.url)
  onTestFinished(() => void client.destroy())
  client.on('error', () => {})
  client.pause()
  client.write(sent)
  const [held] = await arrived
  return { client, held }
}

test('a thousand requests on one connection that reads nothing do not delay others', async () => {
  const app = await appForTest()
  await openDeaf(app, DOCUMENT.repeat(1000))
  for (let call = 0; call < 50; call++) {
    expect((await app.call('GET', `/posts?limit=${1 + (call % 50)}`)).status).toBe(200)
  }
})

test('600 sign-ins whose bodies arrive slowly do not delay others', async () => {
  const app = await appForTest()
  const head =
    'POST /api/v1/logins HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{'
  for (let count = 0; count < 600; count++) await openDeaf(app, head)
  const olga = await app.signUp()
  for (let call = 0; call < 50; call++) {
    expect((await app.call('GET', `/posts?limit=${1 + call}`)).status).toBe(200)
    expect((await app.call('GET', '/sessions', { token: olga.token })).status).toBe(200)
  }
})

test('at most one response waits in the server for a client that does not read, and 30 s without a byte close its connection', async () => {
  const app = await appForTest()
  expect(app.http.server.timeout).toBe(30_000)
  // The test does not wait for 30 s.
  app.http.server.setTimeout(2000)
  const document = await (await fetch(`${app.url}/api/v1/openapi.json`)).arrayBuffer()
  const { client, held } = await openDeaf(app, DOCUMENT)
  const closed = once(held, 'close')
  // Until the kernel's buffers are full of responses.
  while (held.writableLength === 0) {
    expect(held.destroyed).toBe(false)
    client.write(DOCUMENT)
    await fetch(`${app.url}/livez`)
  }
  client.write(DOCUMENT.repeat(20))
  expect((await fetch(`${app.url}/livez`)).status).toBe(200)
  expect(held.writableLength).toBeLessThan(document.byteLength + 2000)
  await closed
})

test('pipelined requests are answered in order; when more than 32 wait, the connection is closed', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  const posts = []
  for (let n = 0; n < 8; n++) posts.push(await app.publish(olga, `Запись ${n}`))
  const requests = posts.map(({ id }, n) => {
    const end = n === posts.length - 1 ? 'Connection: close\r\n' : ''
    return `GET /api/v1/posts/${id} HTTP/1.1\r\nHost: x\r\n${end}\r\n`
  })
  const socket = await openSocket(app.url)
  socket.write(requests.join(''))
  const answers = await readToEnd(socket)
  expect([...answers.matchAll(/"text":"Запись (\d)"/g)].map(([, n]) => Number(n))).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7,
  ])

  const { held } = await openDeaf(app, DOCUMENT.repeat(WAITING_MAX + 10))
  if (!held.destroyed) await once(held, 'close')
})
