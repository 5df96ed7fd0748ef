import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { createProductClient } from '../../e2e/testing/product.ts'
import { type Outcome, recordCalls } from '../../e2e/testing/recorded-calls.ts'
import type { TestUser } from '../../server/testing/http/client.ts'

/** Outcomes after which clients retry a call. */
const RETRIED = new Set<Outcome['status']>(['none', 'cut', 502, 503, 504])
const RETRY_MS = 100
/** The pause of a person between two calls. */
const PAUSE_MS = 20
const SIGN_IN_PAUSE_MS = 300

export type VisitorRead = [path: string, sent?: { isPage: true }]

type Options = {
  url: string
  users: TestUser[]
  visitorReads: VisitorRead[]
  acknowledged: AcknowledgedWrites
}

/** Simulates people who repeat writes until they are acknowledged. */
export function startLoad({ url, users, visitorReads, acknowledged }: Options) {
  const { call, outcomes } = recordCalls(url)
  const { signUp } = createProductClient({ url })
  const newUsers: TestUser[] = []
  const missed: string[] = []
  let isStopped = false

  async function insist(...sent: Parameters<typeof call>): Promise<Outcome> {
    for (;;) {
      const outcome = await call(...sent)
      if (!RETRIED.has(outcome.status)) return outcome
      await delay(RETRY_MS)
    }
  }

  async function write({ id: userId, token }: TestUser): Promise<void> {
    const text = `Запись ${randomUUID()}`
    const headers = { 'idempotency-key': randomUUID() }
    const published = await insist('POST', '/posts', { token, body: { text }, headers })
    if (published.status !== 201) return
    const { id } = published.body
    acknowledged.addPost(id, text, null)
    for (const isLiked of [true, false, true]) {
      acknowledged.setLike(id, userId, undefined)
      const liked = await insist(isLiked ? 'POST' : 'DELETE', `/posts/${id}/likes`, { token })
      if (liked.status !== 200) return
      acknowledged.setLike(id, userId, isLiked)
      const { status, body } = await call('GET', `/posts/${id}`, { token })
      if (status === 200 && body.actions.is_liked !== isLiked) missed.push(`${id} ${isLiked}`)
    }
  }

  async function signInAnew(): Promise<void> {
    // After a sign-in that fails midway, another person signs in.
    const user = await signUp().catch(() => undefined)
    if (user) newUsers.push(user)
  }

  async function repeat(action: () => Promise<unknown>, pauseMs = PAUSE_MS): Promise<void> {
    while (!isStopped) {
      await action()
      await delay(pauseMs)
    }
  }

  const simulations = [
    ...users.flatMap((user) => [
      repeat(() => write(user)),
      repeat(() => call('GET', '/posts', { token: user.token })),
    ]),
    ...visitorReads.map(([path, sent]) => repeat(() => call('GET', path, sent))),
    repeat(signInAnew, SIGN_IN_PAUSE_MS),
  ]

  return {
    outcomes,
    /** Own likes that their users did not see in their next read. */
    missed,
    newUsers,
    /** Outcomes that clients would neither get without a fault nor retry. */
    unexpected: () =>
      outcomes.filter((it) => it.status !== 200 && it.status !== 201 && !RETRIED.has(it.status)),
    async stop(): Promise<void> {
      isStopped = true
      await Promise.all(simulations)
    },
  }
}

export const isVisitorRead = ({ call }: Outcome) => /^GET .* by a visitor$/.test(call)

export const isWritten = ({ call, status }: Outcome) =>
  (status === 200 || status === 201) && !call.startsWith('GET ')
