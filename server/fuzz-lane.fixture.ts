import { randomUUID } from 'node:crypto'
import { Agent, request as sendHttp } from 'node:http'
import type { FuzzRequest } from './fuzz-requests.fixture.ts'
import { createAccountFixture } from './testing/account-fixture.ts'
import type { TestApp } from './testing/test-app.ts'

export type FuzzAnswer = { status: number; body: unknown }

/** Sends fuzz requests one after another, as users of its own: lanes do not affect each other. */
export async function openLane(app: TestApp) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const [other, closed] = [await app.signUp(), await app.signUp()]
  await app.call('DELETE', '/sessions/current', { token: closed.token })
  const post = await app.publish(other)
  const reply = await app.reply(other, post.id)
  const gone = await app.publish(other)
  await app.call('DELETE', `/posts/${gone.id}`, { token: other.token })
  let live = await createAccountFixture(app)

  /** Returns the operation of the live user that a path expects. */
  function operationFor({ template }: FuzzRequest) {
    if (template.includes('/registrations/')) return live.registration
    if (template.includes('/email/')) return live.change
    return template.includes('/deletion/') ? live.deletion : live.login
  }

  function valuesOf(request: FuzzRequest): Record<string, string> {
    const { id: operation, confirmCode: code } = operationFor(request)
    return {
      post: post.id,
      own: live.post.id,
      reply: reply.id,
      gone: gone.id,
      session: live.sessionId,
      operation,
      change: randomUUID(),
      username: other.username,
      id: other.id,
      email: other.email,
      clientToken: live.owner.clientToken,
      code,
    }
  }

  function credentials({ sender, takesCookie }: FuzzRequest): Record<string, string> {
    const { owner } = live
    if (sender === 'visitor') return {}
    if (sender === 'forged') return { authorization: `Bearer ${owner.token.slice(0, -3)}AAA` }
    const { token, cookie } = sender === 'closed' ? closed : owner
    return takesCookie ? { cookie } : { authorization: `Bearer ${token}` }
  }

  return {
    async send(request: FuzzRequest): Promise<FuzzAnswer> {
      const { method, target, template, headers } = request
      const values = valuesOf(request)
      const fill = (text: string) => text.replace(/\$(\w+)/g, (all, name) => values[name] ?? all)
      const body = request.body && Buffer.from(request.body).toString('latin1')
      const answer = await send(
        { agent, url: app.url, method, path: fill(target) },
        { ...headers, ...credentials(request) },
        body === undefined ? undefined : Buffer.from(fill(body), 'latin1'),
      )
      // What such a call has used up, a later one needs again.
      const { code = '' } = (answer.body ?? {}) as { code?: string }
      const hasVerified = template.endsWith('/verify') && answer.status === 200
      const isUsedUp = /^(?:MAX_CONFIRM_ATTEMPTS|OPERATION_EXPIRED)$/.test(code)
      const hasDeleted = method === 'DELETE' && answer.status === 204
      if (hasVerified || isUsedUp || hasDeleted) live = await createAccountFixture(app)
      return answer
    },
    close: () => agent.destroy(),
  }
}

type Where = { agent: Agent; url: string; method: string; path: string }

function send(
  { agent, url, method, path }: Where,
  headers: Record<string, string>,
  body: Uint8Array | undefined,
): Promise<FuzzAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<FuzzAnswer>()
  const { hostname, port } = new URL(url)
  const length = body ? { 'content-length': body.length } : {}
  const options = { agent, hostname, port, method, path, headers: { ...headers, ...length } }
  const request = sendHttp(options, async (response) => {
    const text = Buffer.concat(await response.toArray()).toString('utf8')
    const status = response.statusCode ?? 0
    resolve({ status, body: text === '' ? undefined : JSON.parse(text) })
  })
  request.on('error', reject)
  request.end(body)
  return promise
}
