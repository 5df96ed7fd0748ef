import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createLoadShedding } from './load-shedding.ts'

const MANY = 120
const PAUSE_MS = 5

/** A server that answers calls, and leaves pages unanswered until `release`. */
async function serverOfPages() {
  const held: ServerResponse[] = []
  let holds = true
  const { guard } = createLoadShedding({
    refusalOf: () => ({ status: 503, headers: {}, body: Buffer.from('Позже') }),
    isFirst: () => false,
    insteadOfRefusal: () => false,
    log: pino({ enabled: false }),
  })
  const server = createServer(
    guard((request, response) => {
      if (holds && request.url?.startsWith('/posts/')) held.push(response)
      else response.end()
    }),
  ).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    async ask(path: string) {
      const { status } = await fetch(`http://127.0.0.1:${port}${path}`)
      return { status, at: performance.now() }
    },
    release() {
      holds = false
      for (const response of held) response.end()
    },
  }
}

/** Takes most of the thread's time until the function that it returns is called. */
function keepBusy() {
  const timer = setInterval(() => {
    const end = performance.now() + 5
    while (performance.now() < end);
  })
  return () => clearInterval(timer)
}

test('while the thread is busy, more pages than could begin within half a second are refused before those that wait, and calls are answered', async () => {
  const { ask, release } = await serverOfPages()
  const stopBeingBusy = keepBusy()
  const answers: ReturnType<typeof ask>[] = []
  for (let page = 0; page < MANY; page++) {
    answers.push(ask(`/posts/${page}`))
    await delay(PAUSE_MS)
  }
  expect((await ask('/api/v1/posts')).status).toBe(200)
  stopBeingBusy()
  release()
  const refused = (await Promise.all(answers)).filter(({ status }) => status === 503)
  const isAtOnce = ({ at }: { at: number }, i: number) =>
    refused.slice(0, i).some((earlier) => earlier.at > at)
  expect(refused.filter(isAtOnce).length).toBeGreaterThan(0)
  expect((await ask('/posts/1')).status).toBe(200)
})
