import { once } from 'node:events'
import type { Socket } from 'node:net'
import { sql } from 'kysely'
import { expect, onTestFinished } from 'vitest'
import { atOnce } from '../../testing/http/at-once.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { openNews } from '../../testing/http/news-reader.ts'
import { openSocket, parseRaw, readToEnd } from '../../testing/http/raw-http.ts'
import { appForTest, type TestApp, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('bytes that a balancer would judge before any node')

/** How many requests run at once. */
const AT_WORK = 64

const UNFINISHED =
  'POST /api/v1/logins HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n'

/** Reads the posts of as many users at once, each on a connection and from an address of its own; returns the answers and their durations. */
async function askAtOnce({ url }: TestApp, count: number) {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(url)))
  return sockets.map(async (socket, n) => {
    const asked = performance.now()
    socket.write(
      `GET /api/v1/posts?userId=${n + 1} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.${n}\r\n\r\n`,
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    const ms = performance.now() - asked
    socket.destroy()
    return { ms, ...parseRaw(answer.toString()) }
  })
}

test('while 64 requests run, others wait half a second at most, then are 503 with Retry-After, and are served once those have ended', async () => {
  const app = await appForTest({ config: { trustProxy: ['127.0.0.1'] }, keepsTimeLimits: true })
  const held = await app.db.startTransaction().execute()
  await sql`LOCK TABLE posts`.execute(held)
  const asked = await askAtOnce(app, AT_WORK + 10)
  expect((await fetch(`${app.url}/livez`)).status).toBe(200)

  const answers = await Promise.all(asked)
  // The running requests wait a second for a connection to the database.
  const refused = answers.filter(({ ms }) => ms < 990)
  expect(refused).toHaveLength(10)
  for (const { head, ms, ...answer } of refused) {
    expectRefusal(answer, 'UNAVAILABLE')
    expect(head).toMatch(/^retry-after: [1-9]\d*\r$/im)
    expect(head).toMatch(/^cache-control: no-store\r$/im)
    expect(head).toMatch(/^content-security-policy: default-src 'self'/im)
    expect(ms).toBeGreaterThan(450)
  }
  await held.rollback().execute()
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
  expect((await app.call('GET', '/posts?userId=1000')).status).toBe(200)
})

test('a connection on which nothing is sent is closed, and a request that stops in the middle is given up: its headers after about 5 s, its body after 10', async () => {
  const app = await appForTest()
  const waits = [
    ['', 5],
    ['GET /api/v1/posts HTTP/1.1\r\nHost: x\r\nX-Slow: ', 5],
    [UNFINISHED, 10],
  ] as const
  const answers = waits.map(async ([sent, seconds]) => {
    const socket = await openSocket(app.url)
    const since = performance.now()
    socket.write(sent)
    const answer = await readToEnd(socket)
    const waited = performance.now() - since
    expect(waited).toBeGreaterThan(seconds * 1000 - 500)
    // Node's own 30 s between checks of its connections would be too late.
    expect(waited).toBeLessThan(seconds * 1000 + 6000)
    return answer
  })
  const [nothing, ...late] = await Promise.all(answers)
  expect(nothing).toBe('')
  for (const { status, body } of late.map(parseRaw)) {
    expect(status).toBe(408)
    expect(body.message).toMatch(/[а-яё]/)
  }
})

test('two thousand streams are open at once; further ones are refused, and the wall is served meanwhile', async () => {
  const app = await appForTest({ config: { trustProxy: ['127.0.0.1'] } })
  const open = (n: number) => openNews(app.url, `10.0.${n % 10}.1`)
  // Beside busy tests, of 2000 requests at once some came after more than five seconds.
  const streams = await atOnce(Array.from({ length: 2000 }, (_, n) => () => open(n)))
  expect(streams.filter(({ response }) => response.statusCode === 200)).toHaveLength(2000)
  const { response: refused } = await openNews(app.url, '10.1.0.1')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '60'])
  expect((await app.call('GET', '/posts')).status).toBe(200)
  await app.publish(await app.signUp())
})

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
  for (let count = 0; count < 600; count++) await openDeaf(app, `${UNFINISHED}{`)
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
  const texts = [...answers.matchAll(/"text":"(.+?)"/g)].map(([, text]) => text)
  expect(texts).toEqual(posts.map(({ text }) => text))

  const { held } = await openDeaf(app, DOCUMENT.repeat(WAITING_MAX + 10))
  if (!held.destroyed) await once(held, 'close')
})
