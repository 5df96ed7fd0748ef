import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { quantile } from './load.ts'

type Sent = { path: string; headers: Record<string, string>; body?: string }
/** Resolves to whether the request was served. */
type Send = (agent: Agent) => Promise<boolean>
type Result = { perSecond: number; p99: number; failed: number }
/** `stop` ends the sending and resolves when every request is answered. */
export type OpenLoop = { stop(): Promise<Result> }

const TICK_MS = 10

/** Sends requests at a steady rate: a loop that awaits answers would slow down with the server. */
export function openLoop(perSecond: number, send: Send): OpenLoop {
  const agent = new Agent({ keepAlive: true })
  const began = performance.now()
  const times: number[] = []
  const pending = new Set<Promise<void>>()
  let sent = 0
  let failed = 0

  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * perSecond
    while (sent < due) {
      const dueAt = began + (sent++ / perSecond) * 1000
      const one = send(agent)
        .catch(() => false)
        .then((isServed) => {
          if (!isServed) failed++
          times.push(performance.now() - dueAt)
        })
        .finally(() => pending.delete(one))
      pending.add(one)
    }
  }, TICK_MS)

  return {
    async stop() {
      clearInterval(timer)
      const seconds = (performance.now() - began) / 1000
      await Promise.all(pending)
      agent.destroy()
      times.sort((a, b) => a - b)
      const perSecond = (times.length - failed) / seconds
      return { perSecond, p99: quantile(times, 0.99), failed }
    },
  }
}

/** Sends a call that writes. */
export async function post(
  agent: Agent,
  url: string,
  { path, headers, body }: Sent,
): Promise<boolean> {
  const sending = request(`${url}/api/v1${path}`, { method: 'POST', headers, agent }).end(body)
  const [response] = await once(sending, 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode < 300
}
