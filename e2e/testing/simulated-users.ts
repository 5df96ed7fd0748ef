import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { DEVICE, type TestUser } from '../../server/testing/http/client.ts'
import type { AcknowledgedWrites } from './acknowledged-writes.ts'
import { type Outcome, recordCalls } from './recorded-calls.ts'

type Options = {
  url: string
  users: TestUser[]
  acknowledged: AcknowledgedWrites
  freshConnections?: boolean
  /** The average pause of a user between two calls. */
  pauseMs?: number
  /** The calls that each user repeats in turn; by default writes, reads and sign-ins. */
  actionsOf?: (user: TestUser, call: Call, acknowledged: AcknowledgedWrites) => Actions
}

type Call = ReturnType<typeof recordCalls>['call']
type Actions = (() => Promise<Outcome>)[]

/**
 * Each user makes the next call as soon as the last one is answered or has failed, or after
 * `pauseMs`, until `stop()`.
 */
export function simulateUsers({
  url,
  users,
  acknowledged,
  pauseMs = 0,
  actionsOf = writingActions,
  ...options
}: Options) {
  const { call, outcomes } = recordCalls(url, options)
  let stopped = false

  async function simulate(user: TestUser): Promise<void> {
    const actions = actionsOf(user, call, acknowledged)
    for (let turn = 0; !stopped; turn++) {
      if (pauseMs > 0) await delay(2 * pauseMs * Math.random())
      await actions[turn % actions.length]?.()
    }
  }

  const simulations = Promise.all(users.map(simulate))
  return {
    outcomes,
    async stop(): Promise<void> {
      stopped = true
      await simulations
    },
  }
}

function writingActions(user: TestUser, call: Call, acknowledged: AcknowledgedWrites): Actions {
  const { token, cookie, clientToken } = user
  let postId = '1'

  async function publish(repliedTo: string | null): Promise<Outcome> {
    const text = `Запись ${randomUUID()}`
    const path = repliedTo === null ? '/posts' : `/posts/${repliedTo}/replies`
    const outcome = await call('POST', path, { token, body: { text } })
    if (outcome.status === 201) {
      postId = outcome.body.id
      acknowledged.addPost(postId, text, repliedTo)
    }
    return outcome
  }

  async function like(isLiked: boolean): Promise<Outcome> {
    acknowledged.setLike(postId, user.id, undefined)
    const outcome = await call(isLiked ? 'POST' : 'DELETE', `/posts/${postId}/likes`, { token })
    if (outcome.status === 200) acknowledged.setLike(postId, user.id, isLiked)
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
