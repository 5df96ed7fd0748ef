import { Agent } from 'node:http'
import { type Answer, quantile } from './load.ts'

const TICK_MS = 10

/** Sends requests at a steady rate, whether earlier ones are answered or not, until `stop`. */
export function openLoop(perSecond: number, sendOne: (agent: Agent) => Promise<Answer>) {
  const agent = new Agent({ keepAlive: true })
  const began = performance.now()
  const times: number[] = []
  const sent: Promise<void>[] = []
  let failed = 0

  async function measure(dueAt: number): Promise<void> {
    const isServed = ({ status }: Answer) => status < 300
    if (!(await sendOne(agent).then(isServed, () => false))) failed++
    times.push(performance.now() - dueAt)
  }
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * perSecond
    while (sent.length < due) sent.push(measure(began + (sent.length / perSecond) * 1000))
  }, TICK_MS)

  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(sent)
      agent.destroy()
      return { sent: sent.length, p99: quantile(times, 0.99), failed }
    },
  }
}
