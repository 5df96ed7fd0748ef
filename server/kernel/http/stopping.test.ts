import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { openCrowd } from '../../testing/crowd.ts'
import { openSocket } from '../../testing/raw-http.ts'
import { appForTest, startTestApp, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('bytes that a balancer would judge before any node')

const KEPT_MS = 1000

test('a server that stops under load resets no keep-alive connection, five times in a row', async () => {
  const { databaseUrl, signUp } = await appForTest()
  const { token } = await signUp()
  const calls = ['/posts', '/sessions', '/posts?limit=7', '/users/current']
  let turn = 0
  for (let run = 0; run < 5; run++) {
    const app = await startTestApp({ databaseUrl })
    const request = () =>
      `GET /api/v1${calls[turn++ % calls.length]} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
    const signedIn = openCrowd({ url: app.url, connections: 20, request })
    const visitors = openCrowd({
      url: app.url,
      connections: 20,
      request: () => 'GET /api/v1/posts HTTP/1.1\r\nHost: x\r\n\r\n',
    })
    await expect.poll(() => signedIn.result.times.length).toBeGreaterThan(100)
    await app.close(KEPT_MS)
    for (const crowd of [signedIn, visitors]) {
      const { statuses, lost } = await crowd.stop()
      expect(lost).toBe(0)
      expect([...statuses.keys()]).toEqual([200])
    }
  }
})

test('a stopping server answers the next request of an idle connection with Connection: close', async () => {
  const app = await startTestApp()
  const socket = await openSocket(app.url)
  onTestFinished(() => void socket.destroy())
  const heard: string[] = []
  socket.on('data', (chunk) => heard.push(String(chunk)))
  const ask = () => socket.write('GET /api/v1/posts HTTP/1.1\r\nHost: x\r\n\r\n')
  ask()
  await expect.poll(() => heard.length).toBe(1)
  const closed = app.close(KEPT_MS)
  await delay(KEPT_MS / 4)
  ask()
  await closed
  expect(heard.join('')).toMatch(/^HTTP\/1.1 200 .*HTTP\/1.1 200 .*\r\nConnection: close\r\n/s)
})
