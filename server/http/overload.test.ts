import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect } from 'vitest'
import { expectRefusal } from '../testing/expect-refusal.ts'
import { testPerNode } from '../testing/per-node.ts'
import { openSocket, parseRaw, readToEnd } from '../testing/raw-http.ts'
import { appForTest, type TestApp } from '../testing/test-app.ts'

const test = testPerNode('bytes that a balancer would judge before any node')

/** More than this at work at once is refused. */
const AT_WORK = 512

const UNFINISHED =
  'POST /api/v1/logins HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n'

/** Starts as many requests whose bodies never come; gives their connections as the server holds them. */
async function occupy(app: TestApp, count: number): Promise<{ socket: Socket; held: Socket }[]> {
  const atWork: { socket: Socket; held: Socket }[] = []
  for (let n = 0; n < count; n++) {
    const arrived = once(app.http.server, 'request')
    const socket = await openSocket(app.url)
    socket.write(UNFINISHED)
    const [request] = await arrived
    atWork.push({ socket, held: request.socket })
  }
  return atWork
}

test('with 512 requests at work the next is 503 with Retry-After at once, and none once they are gone', async () => {
  const app = await appForTest()
  const atWork = await occupy(app, AT_WORK)

  const asked = performance.now()
  const refused = await app.call('GET', '/posts')
  expect(performance.now() - asked).toBeLessThan(1000)
  expectRefusal(refused, 'UNAVAILABLE')
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect((await fetch(`${app.url}/livez`)).status).toBe(200)
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)

  const gone = atWork.map(({ held }) => once(held, 'close'))
  for (const { socket } of atWork) socket.destroy()
  await Promise.all(gone)
  expect((await app.call('GET', '/posts')).status).toBe(200)
})

test('a body for what nobody serves is not waited for: the refusal comes at once, and such calls are counted', async () => {
  const app = await appForTest({ config: { rateLimitScale: 0.01 } })
  const statuses: number[] = []
  for (let call = 0; call < 35; call++) {
    const socket = await openSocket(app.url)
    socket.write(UNFINISHED.replace('/api/v1/logins', '/nope'))
    const [head] = (await once(socket, 'data')) as [Buffer]
    statuses.push(Number(/^HTTP\/1.1 (\d+)/.exec(head.toString())?.[1]))
    socket.destroy()
  }
  expect(statuses).toEqual([...Array(30).fill(404), ...Array(5).fill(429)])
})

test.each([
  ['the headers', 5, 'GET /api/v1/posts HTTP/1.1\r\nHost: x\r\nX-Slow: '],
  ['the body', 10, UNFINISHED],
])(
  'a request that stops in the middle of %s is given up after about %i s',
  async (_, seconds, sent) => {
    const app = await appForTest()
    const socket = await openSocket(app.url)
    const since = performance.now()
    socket.write(sent)
    const answer = parseRaw(await readToEnd(socket))
    const waited = performance.now() - since
    expect(answer.status).toBe(408)
    expect(answer.body.message).toMatch(/[а-яё]/)
    expect(waited).toBeGreaterThan(seconds * 1000 - 500)
    // Node's own 30 s between looks at its connections would be late.
    expect(waited).toBeLessThan(seconds * 1000 + 6000)
  },
)
