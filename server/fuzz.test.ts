import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FuzzRequest, requestsFor } from './fuzz-requests.fixture.ts'
import { createAccountFixture } from './testing/calls/account-fixture.ts'
import { appForFile } from './testing/test-app.ts'

/** FUZZ_RUNS sets the number of requests, FUZZ_SEED repeats a run. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 500)
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const LANES = 6

const app = await appForFile({ config: { logLevel: 'error', rateLimitScale: 1e6 } })

/** Sends requests one after another, as users of its own: lanes do not affect each other. */
async function openLane() {
  const [other, closed] = [await app.signUp(), await app.signUp()]
  await app.call('DELETE', '/sessions/current', { token: closed.token })
  const [post, gone] = [await app.publish(other), await app.publish(other)]
  const reply = await app.reply(other, post.id)
  await app.call('DELETE', `/posts/${gone.id}`, { token: other.token })
  let live = await createAccountFixture(app)

  /** Returns the operation of the live user that a path expects. */
  function operationFor(template: string) {
    if (template.includes('/registrations/')) return live.registration
    if (template.includes('/email/')) return live.change
    return template.includes('/deletion/') ? live.deletion : live.login
  }

  function credentials({ sender, takesCookie }: FuzzRequest): Record<string, string> {
    if (sender === 'visitor') return {}
    const { token, cookie } = sender === 'closed' ? closed : live.owner
    if (sender === 'forged') return { authorization: `Bearer ${token.slice(0, -3)}AAA` }
    return takesCookie ? { cookie } : { authorization: `Bearer ${token}` }
  }

  return async (request: FuzzRequest) => {
    const { method, template, target, headers, body } = request
    const { id: operation, confirmCode: code } = operationFor(template)
    const { email, username, id } = other
    const values: Record<string, string> = {
      ...{ post: post.id, own: live.post.id, reply: reply.id, gone: gone.id },
      ...{ session: live.sessionId, operation, code, clientToken: live.owner.clientToken },
      ...{ email, username, id },
    }
    const fill = (text: string) => text.replace(/\$(\w+)/g, (all, name) => values[name] ?? all)
    const answer = await app.call(method, fill(target).replace('/api/v1', ''), {
      headers: { ...headers, ...credentials(request) },
      body: body && fill(body),
    })
    // What such a call has used up, a later one needs again.
    const hasVerified = template.endsWith('/verify') && answer.status === 200
    const isUsedUp = /^(?:MAX_CONFIRM_ATTEMPTS|OPERATION_EXPIRED)$/.test(answer.body?.code)
    const hasDeleted = method === 'DELETE' && answer.status === 204
    if (hasVerified || isUsedUp || hasDeleted) live = await createAccountFixture(app)
    return answer.status
  }
}

test(
  `${RUNS} random requests, right and wrong, from visitors, users and closed sessions: no 5xx, no answer that the OpenAPI document does not describe, no secured call that serves a stranger (seed ${SEED})`,
  async () => {
    const requests = requestsFor(await app.read('/openapi.json'))
    const served = new Set<string>()
    const statuses = new Set<number>()

    async function fuzz(seed: number): Promise<void> {
      const send = await openLane()
      const property = fc.asyncProperty(requests, async (request) => {
        const { method, template, sender, needsUser } = request
        // The client checks each answer against the document.
        const status = await send(request)
        statuses.add(status)
        if (status < 300) served.add(`${method} ${template}`)
        expect(status).toBeLessThan(500)
        // A forged or closed session serves nothing, and a call that needs a user no visitor.
        const mayBeServed = sender === 'live' || (sender === 'visitor' && !needsUser)
        if (!mayBeServed) expect(status).toBeGreaterThanOrEqual(400)
      })
      await fc.assert(property, { numRuns: Math.ceil(RUNS / LANES), seed })
    }

    await Promise.all(Array.from({ length: LANES }, (_, lane) => fuzz(SEED + lane)))
    expect(app.logged.filter((line) => line.includes('request failed'))).toEqual([])
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 204, 400, 401, 404, 415]))
    // Requests that nothing serves would show little; in a few runs chance leaves some out.
    if (RUNS >= 3000) expect(served.size).toBeGreaterThan(40)
  },
  60_000 + RUNS * 60,
)
