import { randomUUID } from 'node:crypto'
import { Agent, request as sendHttp } from 'node:http'
import type { FuzzRequest } from './fuzz-requests.fixture.ts'
import { newEmail } from './testing/account-fixture.ts'
import { DEVICE, type TestUser } from './testing/client.ts'
import type { TestApp } from './testing/test-app.ts'

export type FuzzAnswer = { status: number; body: unknown }

/** Errors after which no code completes the operation. */
const ENDED = new Set(['MAX_CONFIRM_ATTEMPTS', 'OPERATION_EXPIRED'])

/** Sends fuzz requests one after another, as users of its own: lanes do not affect each other. */
export async function openLane(app: TestApp) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const other = await app.signUp()
  const closed = await app.signUp()
  await app.call('DELETE', '/sessions/current', { token: closed.token })
  const post = await app.publish(other)
  const reply = await app.reply(other, post.id)
  const gone = await app.publish(other)
  await app.call('DELETE', `/posts/${gone.id}`, { token: other.token })
  let live = await app.signUp()
  let own: string | undefined
  const operations = new Map<string, string>()
  let change: string | undefined

  /** Returns the id of an operation of the live user that a path expects, else a random id. */
  async function operationFor({ template }: FuzzRequest): Promise<string> {
    const [, verified] = /^\/api\/v1(.+)\/\{id\}\/verify$/.exec(template) ?? []
    const start = template.endsWith('/codes/{id}/mail') ? '/logins' : verified
    if (start === undefined) return randomUUID()
    const started = operations.get(template)
    if (started !== undefined) return started
    const { clientToken, token } = live
    const isChange = start.endsWith('/email')
    const email = start === '/logins' ? other.email : newEmail()
    const body = {
      clientToken,
      ...(!start.endsWith('/deletion') && { email }),
      ...(!start.startsWith('/users') && { device: DEVICE }),
    }
    const { id } = (await app.call(isChange ? 'PUT' : 'POST', start, { token, body })).body
    operations.set(template, id)
    return id
  }

  /** An undo closes every session, so the change belongs to a new user. */
  async function newChange(): Promise<string> {
    const { id: userId, token, clientToken } = await app.signUp()
    const path = '/users/current/email'
    const body = { email: newEmail(), clientToken }
    const { id } = (await app.call('PUT', path, { token, body })).body
    const code = { confirmCode: app.codeFor(id), clientToken }
    await app.call('PUT', `${path}/${id}/verify`, { token, body: code })
    const changes = app.db.selectFrom('email_changes').select('id').where('user_id', '=', userId)
    return (await changes.executeTakeFirstOrThrow()).id
  }

  async function otherSession(): Promise<{ current: string; session: string }> {
    const read = () => app.call('GET', '/sessions', { token: live.token })
    let { sessions } = (await read()).body
    if (sessions.length < 2) {
      await app.signIn(live.email)
      sessions = (await read()).body.sessions
    }
    return { current: sessions[0].id, session: sessions[1].id }
  }

  async function names(request: FuzzRequest): Promise<Record<string, string>> {
    own ??= (await app.publish(live)).id
    const operation = await operationFor(request)
    change ??= await newChange()
    return {
      ...(request.target.includes('$') ? await otherSession() : {}),
      post: post.id,
      own,
      reply: reply.id,
      gone: gone.id,
      operation,
      change,
      secret: app.undoSecretFor(change),
      username: other.username,
      id: other.id,
      cursor: post.id,
      email: other.email,
      clientToken: live.clientToken,
      code: app.codeFor(operation),
    }
  }

  async function discardUsed(
    { method, template }: FuzzRequest,
    { status, body }: FuzzAnswer,
  ): Promise<void> {
    const { code } = (body ?? {}) as { code?: string }
    if (status === 200 || (code !== undefined && ENDED.has(code))) operations.delete(template)
    if (status === 200) {
      if (template.includes('/email/')) live = { ...live, ...(body as { email: string }) }
    }
    if (template.endsWith('/undo') && status === 204) change = undefined
    const hasLeft = template.includes('/deletion/') && status === 200
    if (!hasLeft && (method !== 'DELETE' || status !== 204)) return
    own = undefined
    if (!hasLeft && !template.endsWith('/sessions/current')) return
    live = await app.signUp()
    operations.clear()
  }

  function credentials({ sender, access }: FuzzRequest): Record<string, string> {
    if (sender === 'visitor') return {}
    const user: Pick<TestUser, 'token' | 'cookie'> = sender === 'closed' ? closed : live
    if (sender === 'forged') return { authorization: `Bearer ${live.token.slice(0, -3)}AAA` }
    return access === 'cookie' ? { cookie: user.cookie } : { authorization: `Bearer ${user.token}` }
  }

  return {
    closed,
    async send(request: FuzzRequest): Promise<FuzzAnswer> {
      const known = await names(request)
      const fill = (text: string) => text.replace(/\$(\w+)/g, (all, name) => known[name] ?? all)
      const body = request.body && Buffer.from(request.body).toString('latin1')
      const answer = await send(
        { agent, url: app.url, method: request.method, path: fill(request.target) },
        { ...request.headers, ...credentials(request) },
        body === undefined ? undefined : Buffer.from(fill(body), 'latin1'),
      )
      await discardUsed(request, answer)
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
