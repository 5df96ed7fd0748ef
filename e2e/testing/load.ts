import { randomUUID } from 'node:crypto'
import { DEVICE, type TestUser } from '../../server/testing/client.ts'
import type { Ledger } from './ledger.ts'

/** How a call ended: with a whole answer, with none at all, or with a piece of one. */
export type Outcome = {
  call: string
  status: number | 'none' | 'cut'
  retryAfter: string | null
  // biome-ignore lint/suspicious/noExplicitAny: whatever was answered
  body: any
  /** Milliseconds of Date.now(). */
  began: number
  ended: number
}

type Sent = { token?: string; body?: object; headers?: Record<string, string> }

type Options = {
  url: string
  users: TestUser[]
  ledger: Ledger
  /** A connection of its own for every call. */
  freshConnections?: boolean
  /** Users go on when a call has no whole answer too: another node may give the next. */
  persistent?: boolean
}

export type Load = ReturnType<typeof startLoad>

/**
 * Lets users call the product without pause, each as fast as it is answered: posts, replies, likes, reads, refreshes,
 * starts of sign-ins. A user goes on after a refusal, and ends with `stop()` or, unless persistent, when a call has no
 * whole answer.
 */
export function startLoad(options: Options) {
  const { url, users, ledger, freshConnections, persistent } = options
  const outcomes: Outcome[] = []
  let stopped = false

  async function call(method: string, path: string, sent: Sent = {}): Promise<Outcome> {
    const { token, body, headers } = sent
    const began = Date.now()
    const outcome: Outcome = {
      call: nameOf(method, path, token),
      status: 'none',
      retryAfter: null,
      body: undefined,
      began,
      ended: began,
    }
    try {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': 'application/json' }),
          ...(freshConnections && { connection: 'close' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      outcome.status = 'cut'
      const text = await response.text()
      // A balancer speaks for a dead node in HTML.
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      outcome.body = isJson ? JSON.parse(text) : undefined
      outcome.status = response.status
      outcome.retryAfter = response.headers.get('retry-after')
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
    outcome.ended = Date.now()
    outcomes.push(outcome)
    return outcome
  }

  async function live(user: TestUser): Promise<void> {
    const { token, cookie, clientToken } = user
    const target = { id: '1' }
    const like = async (method: string, isLiked: boolean) => {
      ledger.like(target.id, user.id, undefined)
      const outcome = await call(method, `/posts/${target.id}/likes`, { token })
      if (outcome.status === 200) ledger.like(target.id, user.id, isLiked)
      return outcome
    }
    const publish = async (repliedTo: string | null) => {
      const text = `Запись ${randomUUID()}`
      const path = repliedTo === null ? '/posts' : `/posts/${repliedTo}/replies`
      const outcome = await call('POST', path, { token, body: { text } })
      if (outcome.status === 201) {
        ledger.post(outcome.body.id, text, repliedTo)
        target.id = outcome.body.id
      }
      return outcome
    }
    const day = [
      () => publish(null),
      () => like('POST', true),
      () => publish(target.id),
      () => call('GET', '/posts'),
      () => like('POST', true),
      () => like('DELETE', false),
      () => call('GET', `/posts/${target.id}`),
      () => publish(target.id),
      () => call('GET', '/posts', { token }),
      () => call('GET', '/posts/replies', { token }),
      () =>
        call('PATCH', '/sessions/current', {
          body: { clientToken },
          headers: { cookie },
        }),
      () =>
        call('POST', '/registrations', {
          body: { email: `${randomUUID()}@example.org`, clientToken, device: DEVICE },
        }),
    ]
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

function nameOf(method: string, path: string, token: string | undefined): string {
  return `${method} ${path.replace(/\d+/, ':id')}${token ? '' : ' by a visitor'}`
}
