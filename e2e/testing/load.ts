import { randomUUID } from 'node:crypto'
import { DEVICE, type TestUser } from '../../server/testing/client.ts'
import type { Ledger } from './ledger.ts'
import { type Outcome, watchCalls } from './watched-calls.ts'

type Options = {
  url: string
  users: TestUser[]
  ledger: Ledger
  /** A connection of its own for every call. */
  freshConnections?: boolean
  /** Users go on when a call has no whole answer too: another node may give the next. */
  persistent?: boolean
}

type Call = ReturnType<typeof watchCalls>['call']

/**
 * Lets users call the product without pause, each as fast as it is answered. A user goes on after a refusal, and ends
 * with `stop()` or, unless persistent, when a call has no whole answer.
 */
export function startLoad({ url, users, ledger, persistent = false, ...options }: Options) {
  const { call, outcomes } = watchCalls(url, options)
  let stopped = false

  async function live(user: TestUser): Promise<void> {
    const day = dayOf(user, { call, ledger })
    for (let turn = 0; !stopped; turn++) {
      const outcome = await day[turn % day.length]?.()
      if (typeof outcome?.status !== 'number' && !persistent) return
    }
  }

  const lives = Promise.all(users.map(live))
  return {
    outcomes,
    /** Resolves when nobody was answered any more. */
    ended: lives,
    async stop(): Promise<void> {
      stopped = true
      await lives
    },
  }
}

/** What a user does over and over: posts, replies, likes, reads, refreshes, starts of sign-ins. */
function dayOf(user: TestUser, { call, ledger }: { call: Call; ledger: Ledger }) {
  const { token, cookie, clientToken } = user
  let postId = '1'

  async function publish(repliedTo: string | null): Promise<Outcome> {
    const text = `Запись ${randomUUID()}`
    const path = repliedTo === null ? '/posts' : `/posts/${repliedTo}/replies`
    const outcome = await call('POST', path, { token, body: { text } })
    if (outcome.status === 201) {
      postId = outcome.body.id
      ledger.post(postId, text, repliedTo)
    }
    return outcome
  }

  async function like(isLiked: boolean): Promise<Outcome> {
    ledger.like(postId, user.id, undefined)
    const outcome = await call(isLiked ? 'POST' : 'DELETE', `/posts/${postId}/likes`, { token })
    if (outcome.status === 200) ledger.like(postId, user.id, isLiked)
    return outcome
  }

  const refresh = () =>
    call('PATCH', '/sessions/current', { body: { clientToken }, headers: { cookie } })
  const startSignIn = () => {
    const body = { email: `${randomUUID()}@example.org`, clientToken, device: DEVICE }
    return call('POST', '/registrations', { body })
  }
  return [
    () => publish(null),
    () => like(true),
    () => publish(postId),
    () => call('GET', '/posts'),
    () => like(true),
    () => like(false),
    () => call('GET', `/posts/${postId}`),
    () => publish(postId),
    () => call('GET', '/posts', { token }),
    () => call('GET', '/posts/replies', { token }),
    refresh,
    startSignIn,
  ]
}
