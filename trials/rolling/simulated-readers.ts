import { setTimeout as delay } from 'node:timers/promises'
import type { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { recordCalls } from '../../e2e/testing/recorded-calls.ts'
import type { TestUser } from '../../server/testing/client.ts'

type Options = {
  url: string
  users: TestUser[]
  acknowledged: AcknowledgedWrites
  /** The average pause of a reader between two calls. */
  pauseMs: number
}

/** Simulates a reader for each user, who reads as a visitor and as that user in turn. */
export function simulateReaders({ url, users, acknowledged, pauseMs }: Options) {
  const { call, outcomes } = recordCalls(url)
  let isStopped = false

  async function read({ token }: TestUser): Promise<void> {
    const reads = [
      () => call('GET', '/', { isPage: true }),
      () => call('GET', '/posts'),
      () => call('GET', `/posts/${[...acknowledged.posts.keys()].at(-1) ?? ''}`),
      () => call('GET', '/posts', { token }),
    ]
    for (let turn = 0; !isStopped; turn++) {
      await delay(2 * pauseMs * Math.random())
      await reads[turn % reads.length]?.()
    }
  }

  const reading = Promise.all(users.map(read))
  return {
    outcomes,
    async stop(): Promise<void> {
      isStopped = true
      await reading
    },
  }
}
