import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ERRORS, type ErrorCode } from '../../contract/errors.ts'

type Reply = { status: number; body?: unknown; headers?: Record<string, string> }
type Received = { call: string; bearer: string | undefined; key: unknown; body: string }

let server: Server
let received: Received[]
/** Answers every request but the refreshes of the token. */
let answer: (request: Received) => Reply
/** Answers the `n`th refresh, from 1. */
let refresh: (n: number) => Reply

beforeEach(async () => {
  received = []
  answer = () => ({ status: 200, body: {} })
  refresh = (n) => tokenReply(n, 300)
  server = createServer(async (request, response) => {
    const { status, body, headers } = await replyTo(request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  vi.stubGlobal('location', { origin: `http://127.0.0.1:${port}` })
  vi.stubGlobal('localStorage', { getItem: () => 'this-browser', setItem: () => {} })
  // The modules hold the state of the session: each test begins with a page just opened.
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
  const { authorization: bearer, 'idempotency-key': key } = request.headers
  const current = { call, bearer, key, body }
  received.push(current)
  return call === 'PATCH /api/v1/sessions/current' ? refresh(refreshes()) : answer(current)
}

function refreshes(): number {
  return received.filter(({ call }) => call.startsWith('PATCH')).length
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

test('a visitor sends no bearer token and asks for none', async () => {
  const { call, resetToken } = await openPage()
  resetToken('none')
  await call('GET /posts', { query: { limit: 10 } })
  expect(received).toMatchObject([{ call: 'GET /api/v1/posts?limit=10', bearer: undefined }])
  expect(refreshes()).toBe(0)
})

test('concurrent calls share one refresh of the token', async () => {
  const { call } = await openPage()
  await Promise.all(Array.from({ length: 5 }, () => call(me, {})))
  expect(refreshes()).toBe(1)
  expect(received[0]?.body).toBe('{"clientToken":"this-browser"}')
  const bearers = received.slice(1).map(({ bearer }) => bearer)
  expect(bearers).toEqual(Array(5).fill('Bearer token-1'))
})

test('a refused token is refreshed once for all calls, and each call is repeated once', async () => {
  answer = ({ bearer }) =>
    bearer === 'Bearer token-1' ? refusal('UNAUTHORIZED') : { status: 200, body: { id: 'u1' } }
  const { call } = await openPage()
  const users = await Promise.all([call(me, {}), call(me, {}), call(me, {})])
  expect(users).toEqual([{ id: 'u1' }, { id: 'u1' }, { id: 'u1' }])
  expect(refreshes()).toBe(2)
})

test('a call that is refused twice is not repeated again', async () => {
  answer = () => refusal('UNAUTHORIZED')
  const { call } = await openPage()
  await expect(call(me, {})).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
  expect(received.filter(({ call }) => call.endsWith(me.slice(4)))).toHaveLength(2)
  expect(refreshes()).toBe(2)
})

test('a session closed elsewhere is reported once, and later calls are a visitor’s', async () => {
  refresh = (n) => (n === 1 ? tokenReply(1, 300) : refusal('UNAUTHORIZED'))
  answer = ({ bearer }) => (bearer ? refusal('UNAUTHORIZED') : { status: 200, body: {} })
  const { call, onSessionLost } = await openPage()
  const listener = vi.fn()
  onSessionLost(listener)
  const both = await Promise.allSettled([call(me, {}), call(me, {})])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(listener).toHaveBeenCalledTimes(1)
  await call('GET /posts', { query: {} })
  expect(received.at(-1)).toMatchObject({ call: 'GET /api/v1/posts', bearer: undefined })
})

test('listeners learn whether there is a session after every answer of the server, not after a failure', async () => {
  refresh = (n) =>
    n === 2 ? tokenReply(2, 300) : refusal(n === 1 ? 'UNAVAILABLE' : 'UNAUTHORIZED')
  const { call, resetToken, onSessionKnown } = await openPage()
  const listener = vi.fn()
  onSessionKnown(listener)
  await expect(call('GET /posts', { query: {} })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(listener).not.toHaveBeenCalled()
  await call('GET /posts', { query: {} })
  expect(listener).toHaveBeenCalledTimes(1)
  resetToken('unknown')
  await call('GET /posts', { query: {} })
  expect(listener).toHaveBeenCalledTimes(2)
})

test('a viewer without a session is a visitor, and no error is thrown', async () => {
  refresh = () => refusal('UNAUTHORIZED')
  const { call, onSessionLost } = await openPage()
  const listener = vi.fn()
  onSessionLost(listener)
  await expect(call('GET /posts', { query: {} })).resolves.toEqual({})
  expect(listener).not.toHaveBeenCalled()
})

test('a token that expires in less than 20 seconds is refreshed before the call', async () => {
  refresh = (n) => tokenReply(n, n === 1 ? 19 : 300)
  const { call } = await openPage()
  await call(me, {})
  await call(me, {})
  await call(me, {})
  expect(refreshes()).toBe(2)
})

test('a machine whose clock is an hour ahead refreshes no more often', async () => {
  refresh = (n) => tokenReply(n, 300, Date.now() - 3_600_000)
  const { call } = await openPage()
  await call(me, {})
  await call(me, {})
  expect(refreshes()).toBe(1)
})

test('ids are encoded in the path, headers and bodies are sent, and an empty answer is undefined', async () => {
  answer = () => ({ status: 204 })
  const { call } = await openPage()
  await expect(call('DELETE /sessions/:id', { params: { id: 'a/b?c' } })).resolves.toBeUndefined()
  expect(received.at(-1)?.call).toBe('DELETE /api/v1/sessions/a%2Fb%3Fc')
  await call('POST /posts', { headers: { 'idempotency-key': 'k1' }, body: { text: 'Привет' } })
  expect(received.at(-1)).toMatchObject({ key: 'k1', body: '{"text":"Привет"}' })
})

test('a refusal has a code, a message and the wait that the server asks for', async () => {
  answer = () => refusal('TOO_MANY_REQUESTS', { 'retry-after': '42' })
  const { call, resetToken } = await openPage()
  resetToken('none')
  await expect(call('GET /posts', { query: {} })).rejects.toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    status: 429,
    retryAfter: 42,
    message: ERRORS.TOO_MANY_REQUESTS.message,
  })
})

test('a proxy’s page and a dead server have the product’s own messages', async () => {
  answer = () => ({ status: 502, body: '<html>', headers: { 'content-type': 'text/html' } })
  const { call, resetToken } = await openPage()
  resetToken('none')
  const read = () => call('GET /posts', { query: {} })
  const unavailable = { code: 'UNAVAILABLE', status: 502, message: ERRORS.UNAVAILABLE.message }
  await expect(read()).rejects.toMatchObject(unavailable)
  answer = () => ({ status: 502, body: { code: 502, message: 'Bad gateway' } })
  await expect(read()).rejects.toMatchObject(unavailable)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await expect(read()).rejects.toMatchObject({ code: 'OFFLINE', status: 0 })
})

test('an error that this page does not know yet has the message of its newer server', async () => {
  const body = { code: 'TOO_LATE_AT_NIGHT', message: 'Ночью тише' }
  answer = () => ({ status: 409, body })
  const { call, resetToken } = await openPage()
  resetToken('none')
  await expect(call('GET /posts', { query: {} })).rejects.toMatchObject({ ...body, status: 409 })
})

test('an abort is thrown as it is', async () => {
  const { call, resetToken } = await openPage()
  resetToken('none')
  const signal = AbortSignal.abort()
  await expect(call(me, {}, { signal })).rejects.toMatchObject({ name: 'AbortError' })
})
