import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ERRORS, type ErrorCode } from '../../contract/errors.ts'

type Reply = { status: number; body?: unknown; headers?: Record<string, string> }
type Seen = { call: string; bearer: string | undefined; key: unknown; body: string }

let server: Server
let seen: Seen[]
/** Answers everything but the renewal of tokens. */
let answer: (request: Seen) => Reply
/** Answers the renewal; `n` counts them from 1. */
let renew: (n: number) => Reply

beforeEach(async () => {
  seen = []
  answer = () => ({ status: 200, body: {} })
  renew = (n) => tokenReply(n, 300)
  server = createServer(async (request, response) => {
    const { status, body, headers } = await replyTo(request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  vi.stubGlobal('location', { origin: `http://127.0.0.1:${port}` })
  vi.stubGlobal('localStorage', { getItem: () => 'this-browser', setItem: () => {} })
  // What is known of the session lives in the modules: each test begins with a page just opened.
  vi.resetModules()
})

afterEach(async () => {
  vi.unstubAllGlobals()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function replyTo(request: IncomingMessage): Promise<Reply> {
  let body = ''
  for await (const chunk of request) body += chunk
  const call = `${request.method} ${request.url}`
  const one = {
    call,
    bearer: request.headers.authorization,
    key: request.headers['idempotency-key'],
    body,
  }
  seen.push(one)
  return call === 'PATCH /api/v1/sessions/current' ? renew(renewals()) : answer(one)
}

function renewals(): number {
  return seen.filter(({ call }) => call.startsWith('PATCH')).length
}

function tokenReply(n: number, livesSeconds: number, date = Date.now()): Reply {
  const expiresAt = Math.floor(date / 1000) + livesSeconds
  return {
    status: 200,
    body: { accessToken: { token: `token-${n}`, expiresAt } },
    headers: { date: new Date(date).toUTCString() },
  }
}

function refusal(code: ErrorCode, headers?: Record<string, string>): Reply {
  const { status, message } = ERRORS[code]
  return { status, body: { code, message }, ...(headers && { headers }) }
}

async function openPage() {
  const { call } = await import('./call.ts')
  return { call, ...(await import('./token.ts')) }
}

const me = 'GET /users/current'

test('a visitor sends no bearer and asks for no token', async () => {
  const { call, forgetToken } = await openPage()
  forgetToken('none')
  await call('GET /posts', { query: { limit: 10 } })
  expect(seen).toMatchObject([{ call: 'GET /api/v1/posts?limit=10', bearer: undefined }])
  expect(renewals()).toBe(0)
})

test('calls made at once share one renewal', async () => {
  const { call } = await openPage()
  await Promise.all(Array.from({ length: 5 }, () => call(me, {})))
  expect(renewals()).toBe(1)
  expect(seen[0]?.body).toBe('{"clientToken":"this-browser"}')
  const bearers = seen.slice(1).map(({ bearer }) => bearer)
  expect(bearers).toEqual(Array(5).fill('Bearer token-1'))
})

test('a refused token is renewed once for all, and each call is made once more', async () => {
  answer = ({ bearer }) =>
    bearer === 'Bearer token-1' ? refusal('UNAUTHORIZED') : { status: 200, body: { id: 'u1' } }
  const { call } = await openPage()
  const users = await Promise.all([call(me, {}), call(me, {}), call(me, {})])
  expect(users).toEqual([{ id: 'u1' }, { id: 'u1' }, { id: 'u1' }])
  expect(renewals()).toBe(2)
})

test('a call refused twice gives up', async () => {
  answer = () => refusal('UNAUTHORIZED')
  const { call } = await openPage()
  await expect(call(me, {})).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
  expect(seen.filter(({ call }) => call.endsWith(me.slice(4)))).toHaveLength(2)
  expect(renewals()).toBe(2)
})

test('a session closed elsewhere is told once, then calls go out as a visitor’s', async () => {
  renew = (n) => (n === 1 ? tokenReply(1, 300) : refusal('UNAUTHORIZED'))
  answer = ({ bearer }) => (bearer ? refusal('UNAUTHORIZED') : { status: 200, body: {} })
  const { call, onSessionLost } = await openPage()
  const lost = vi.fn()
  onSessionLost(lost)
  const both = await Promise.allSettled([call(me, {}), call(me, {})])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(lost).toHaveBeenCalledTimes(1)
  await call('GET /posts', { query: {} })
  expect(seen.at(-1)).toMatchObject({ call: 'GET /api/v1/posts', bearer: undefined })
})

test('whether there is a session is told when the server has said so, not when it could not be asked', async () => {
  renew = (n) => (n === 2 ? tokenReply(2, 300) : refusal(n === 1 ? 'UNAVAILABLE' : 'UNAUTHORIZED'))
  const { call, forgetToken, onSessionKnown } = await openPage()
  const known = vi.fn()
  onSessionKnown(known)
  await expect(call('GET /posts', { query: {} })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(known).not.toHaveBeenCalled()
  await call('GET /posts', { query: {} })
  expect(known).toHaveBeenCalledTimes(1)
  forgetToken('unknown')
  await call('GET /posts', { query: {} })
  expect(known).toHaveBeenCalledTimes(2)
})

test('somebody without a session is a visitor, not a failure', async () => {
  renew = () => refusal('UNAUTHORIZED')
  const { call, onSessionLost } = await openPage()
  const lost = vi.fn()
  onSessionLost(lost)
  await expect(call('GET /posts', { query: {} })).resolves.toEqual({})
  expect(lost).not.toHaveBeenCalled()
})

test('a token with less than 20 seconds to live is renewed beforehand', async () => {
  renew = (n) => tokenReply(n, n === 1 ? 19 : 300)
  const { call } = await openPage()
  await call(me, {})
  await call(me, {})
  await call(me, {})
  expect(renewals()).toBe(2)
})

test('a machine whose clock is an hour ahead renews no more often', async () => {
  renew = (n) => tokenReply(n, 300, Date.now() - 3_600_000)
  const { call } = await openPage()
  await call(me, {})
  await call(me, {})
  expect(renewals()).toBe(1)
})

test('ids are encoded into the path, headers and bodies are sent, no body is no answer', async () => {
  answer = () => ({ status: 204 })
  const { call } = await openPage()
  await expect(call('DELETE /sessions/:id', { params: { id: 'a/b?c' } })).resolves.toBeUndefined()
  expect(seen.at(-1)?.call).toBe('DELETE /api/v1/sessions/a%2Fb%3Fc')
  await call('POST /posts', { headers: { 'idempotency-key': 'k1' }, body: { text: 'Привет' } })
  expect(seen.at(-1)).toMatchObject({ key: 'k1', body: '{"text":"Привет"}' })
})

test('a refusal carries its code, its message and the wait asked for', async () => {
  answer = () => refusal('TOO_MANY_REQUESTS', { 'retry-after': '42' })
  const { call, forgetToken } = await openPage()
  forgetToken('none')
  await expect(call('GET /posts', { query: {} })).rejects.toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    status: 429,
    retryAfter: 42,
    message: ERRORS.TOO_MANY_REQUESTS.message,
  })
})

test('a proxy’s page and a dead server are told in the product’s words', async () => {
  answer = () => ({ status: 502, body: '<html>', headers: { 'content-type': 'text/html' } })
  const { call, forgetToken } = await openPage()
  forgetToken('none')
  const read = () => call('GET /posts', { query: {} })
  await expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 502 })
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await expect(read()).rejects.toMatchObject({ code: 'OFFLINE', status: 0 })
})

test('an abort passes through as it is', async () => {
  const { call, forgetToken } = await openPage()
  forgetToken('none')
  const leaving = new AbortController()
  leaving.abort()
  await expect(call(me, {}, { signal: leaving.signal })).rejects.toMatchObject({
    name: 'AbortError',
  })
})
