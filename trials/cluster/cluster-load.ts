import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { createProductClient } from '../../e2e/testing/product.ts'
import { type Outcome, recordCalls } from '../../e2e/testing/recorded-calls.ts'
import type { TestUser } from '../../server/testing/client.ts'

const RETRIED = new Set<Outcome['status']>(['none', 'cut', 502, 503, 504])
const RETRY_MS = 100
/** The pause of a person between two calls. */
const PAUSE_MS = 20
const SIGN_IN_PAUSE_MS = 300

/** When the last try of an acknowledged write was sent and answered (Date.now()). */
type Write = Pick<Outcome, 'began' | 'ended'>

type Options = {
  url: string
  users: TestUser[]
  postId: string
  acknowledged: AcknowledgedWrites
}

export type ClusterLoad = ReturnType<typeof startLoad>

type VisitorRead = [path: string, sent?: { isPage: true }]

/** Simulates people who repeat writes until they are acknowledged, whatever happens. */
export function startLoad({ url, users, postId, acknowledged }: Options) {
  const { call, outcomes } = recordCalls(url)
  const { signUp } = createProductClient({ url })
  const writes: Write[] = []
  const newUsers: TestUser[] = []
  const visitorReads: VisitorRead[] = [
    ['/posts'],
    ['/posts?limit=10'],
    [`/posts/${postId}`],
    ['/', { isPage: true }],
    [`/posts/${postId}`, { isPage: true }],
  ]
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
    writes.push(published)
    for (const isLiked of [true, false, true]) {
      acknowledged.setLike(id, userId, undefined)
      const liked = await insist(isLiked ? 'POST' : 'DELETE', `/posts/${id}/likes`, { token })
      if (liked.status !== 200) return
      acknowledged.setLike(id, userId, isLiked)
      writes.push(liked)
      const { status, body } = await call('GET', `/posts/${id}`, { token })
      if (status === 200 && body.actions.is_liked !== isLiked) missed.push(`${id} ${isLiked}`)
    }
  }

  async function signInAnew(): Promise<void> {
    // After a sign-in that fails midway, another person signs in.
    const user = await signUp().catch(() => undefined)
    if (user?.token) newUsers.push(user)
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
    writes,
    /** Own likes that their users did not see in their next read. */
    missed,
    newUsers,
    /** Reads directly from a node what visitors read. Throws if it refuses a read. */
    async readAt(node: string): Promise<void> {
      const { call: callNode } = recordCalls(node)
      for (const [path, sent] of visitorReads) {
        const { call: name, status } = await callNode('GET', path, sent)
        if (status !== 200) throw new Error(`${node} answers ${name} with ${status}`)
      }
    },
    async stop(): Promise<void> {
      isStopped = true
      await Promise.all(simulations)
    },
  }
}

export function isVisitorRead({ call }: Outcome): boolean {
  return call.startsWith('GET ') && call.endsWith(' by a visitor')
}

/** Whether clients would get this answer without a fault too, or retry the call. */
export function isExpected({ status }: Outcome): boolean {
  return status === 200 || status === 201 || RETRIED.has(status)
}
