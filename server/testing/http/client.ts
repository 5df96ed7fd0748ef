import { randomUUID } from 'node:crypto'
import type { CurrentUser } from '../../../contract/account.ts'
import type { Post } from '../../../contract/posts.ts'
import { atOnce } from './at-once.ts'
import type { SeenAnswer } from './openapi-check.ts'

export type TestAnswer = {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the OpenAPI check verifies the shape
  body: any
  headers: Headers
  /** `name=value` of the session cookie, if the response set one. */
  cookie: string | undefined
}

type CallOptions = {
  body?: unknown
  token?: string | undefined
  headers?: Record<string, string>
}

/** `browser` is the cookie by which the browser is known, `name=value`. */
export type TestUser = CurrentUser & {
  token: string
  cookie: string
  browser: string
  clientToken: string
}

type Options = {
  /** Each call may reach another node, so users' reads go past the cache, as the web's do. */
  hasNodes?: boolean
  check: (answer: SeenAnswer) => void
  codeFor: (operationId: string) => string | Promise<string>
  /** What each call is sent with. */
  headers?: (() => object) | undefined
}

/** The web app sends it with its reads soon after a write. */
export const PAST_CACHE = { 'cache-control': 'no-cache' }

/** Returns the cookie by which a browser is known, as a start and a sign-in set it. */
export function browserOf({ headers }: TestAnswer): string {
  return cookieNamed('browser', headers) ?? ''
}

function cookieNamed(name: 'session' | 'browser', headers: Headers): string | undefined {
  const line = headers.getSetCookie().find((it) => it.split('=', 1)[0]?.includes(name))
  return line?.split(';', 1)[0]
}

export const DEVICE = { userAgent: 'Firefox', userAgentVersion: '140.0', os: 'Linux' }

/** Calls an app over real HTTP. Paths are below /api/v1. */
export function createClient(
  url: string,
  { hasNodes = false, check, codeFor, ...always }: Options,
) {
  async function call(method: string, path: string, sent: CallOptions = {}): Promise<TestAnswer> {
    const { body, token, headers } = sent
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(token !== undefined && hasNodes && PAST_CACHE),
        ...always.headers?.(),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer = text === '' ? undefined : JSON.parse(text)
    const { status } = response
    check({ method, path: `/api/v1${path}`, status, headers: response.headers, body: answer })
    const cookie = cookieNamed('session', response.headers)
    return { status, body: answer, headers: response.headers, cookie }
  }

  /** Reads as a user, or as a visitor. Returns the body of the answer. */
  async function read(path: string, user?: { token: string | undefined }) {
    return (await call('GET', path, { token: user?.token })).body
  }

  /** Registers an unknown e-mail. */
  async function signIn(
    email: string,
    clientToken: string = randomUUID(),
    headers: Record<string, string> = {},
  ): Promise<TestUser> {
    const start = { email, clientToken, device: DEVICE }
    const { id } = successOf(await call('POST', '/registrations', { headers, body: start }))
    const body = { confirmCode: await codeFor(id), clientToken }
    const verified = await call('POST', `/registrations/${id}/verify`, { headers, body })
    const token: string = successOf(verified).accessToken.token
    const user = await read('/users/current', { token })
    const browser = browserOf(verified)
    return { ...user, token, cookie: verified.cookie ?? '', browser, clientToken }
  }

  const signUp = () => signIn(`user-${randomUUID()}@example.org`)

  return {
    call,
    read,
    signIn,
    signUp,
    signUps: (count: number) => atOnce(Array<typeof signUp>(count).fill(signUp)),

    /** Returns the user with a new access token, which a reload of the page asks for. */
    async renew(user: TestUser): Promise<TestUser> {
      const refreshed = await call('PATCH', '/sessions/current', {
        headers: { cookie: user.cookie, origin: url },
        body: { clientToken: user.clientToken },
      })
      return { ...user, token: successOf(refreshed).accessToken.token }
    },

    async publish(user: TestUser, text = 'Говорят, стены слышат.'): Promise<Post> {
      return successOf(await call('POST', '/posts', { token: user.token, body: { text } }))
    },

    async reply(user: TestUser, to: string, text = 'Слышат и отвечают.'): Promise<Post> {
      const replies = `/posts/${to}/replies`
      return successOf(await call('POST', replies, { token: user.token, body: { text } }))
    },
  }
}

/** Returns the body. Throws for a refusal, because a test that goes on fails elsewhere. */
function successOf({ status, body }: TestAnswer) {
  if (status >= 400) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}
