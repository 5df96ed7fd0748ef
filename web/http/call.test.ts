import { beforeEach, expect, test, vi } from 'vitest'
import { ERRORS } from '../../contract/errors.ts'
import {
  type AnsweringServer,
  refusal,
  startAnsweringServer,
  tokenReply,
} from '../testing/answering-server.ts'

let server: AnsweringServer
beforeEach(async () => {
  server = await startAnsweringServer()
  // The modules hold the state of the session: each test begins with a page just opened.
  vi.resetModules()
})

async function openPage() {
  const { call } = await import('./call.ts')
  const { write } = await import('../session/write.ts')
  return { call, write, ...(await import('./token.ts')) }
}

/** Opens a page of user 1, and returns it with a function by which user 2 signs in elsewhere. */
async function openUsersPage() {
  const page = await openPage()
  const { viewer, reloadViewer } = await import('../session/viewer.ts')
  const readAs = (id: string) => {
    reloadViewer()
    return expect.poll(viewer.get).toMatchObject({ user: { id } })
  }
  await readAs('1')
  return { ...page, changeUser: () => readAs('2') }
}

const me = 'GET /users/current'

test('for two seconds after a write, even in another tab, a user’s reads bypass every cache', async () => {
  const readIn = async ({ call }: Awaited<ReturnType<typeof openPage>>) => {
    await call('GET /posts', { query: {} })
    return server.received.at(-1)?.cache
  }
  const page = await openPage()
  const before = await readIn(page)
  const now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now)
  await page.write('POST /posts', { headers: {}, body: { text: 'Моё' } })
  expect(server.received.at(-1)?.cache).toBe(before)
  expect(await readIn(page)).toBe('no-cache')
  vi.resetModules()
  expect(await readIn(await openPage())).toBe('no-cache')
  clock.mockReturnValue(now + 2001)
  expect(await readIn(page)).toBe(before)
})

test('a missing or refused token is refreshed once for all calls, and each call is repeated once', async () => {
  server.answer = ({ bearer }) =>
    bearer === 'Bearer token-1' ? refusal('UNAUTHORIZED') : { status: 200, body: { id: 'u1' } }
  const { call } = await openPage()
  const users = await Promise.all([call(me, {}), call(me, {}), call(me, {})])
  expect(users).toEqual([{ id: 'u1' }, { id: 'u1' }, { id: 'u1' }])
  expect(server.refreshes()).toBe(2)
  expect(server.received[0]?.body).toBe('{"clientToken":"this-browser"}')
  server.answer = () => refusal('UNAUTHORIZED')
  await expect(call(me, {})).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
  expect(server.received.filter(({ call }) => call.endsWith(me.slice(4)))).toHaveLength(8)
})

test('a write that waits for a limit keeps the id of the account that began it, even if another one signs in', async () => {
  server.answer = ({ call, bearer }) => {
    if (call.endsWith(me.slice(4))) return { status: 200, body: { id: bearer?.at(-1) } }
    const isFirst = server.received.filter((it) => it.call === call).length === 1
    return isFirst ? refusal('TOO_MANY_REQUESTS', { 'retry-after': '0' }) : { status: 204 }
  }
  const { write, resetToken } = await openUsersPage()
  const onLimit = vi.fn(() => resetToken('unknown'))
  await write('DELETE /sessions', {}, { onLimit })
  expect(onLimit).toHaveBeenCalledTimes(1)
  const writes = server.received.filter(({ call }) => call.startsWith('DELETE'))
  expect(writes).toMatchObject([
    { bearer: 'Bearer token-1', user: '1' },
    { bearer: 'Bearer token-2', user: '1' },
  ])
})

test('an answer that arrives after another user has signed in is refused', async () => {
  const gate = Promise.withResolvers<void>()
  server.answer = async ({ call, bearer }) => {
    if (call.endsWith(me.slice(4))) return { status: 200, body: { id: bearer?.at(-1) } }
    await gate.promise
    return { status: 204 }
  }
  const { write, changeUser } = await openUsersPage()
  const written = write('DELETE /sessions', {})
  await expect.poll(() => server.received.at(-1)?.user).toBe('1')
  await changeUser()
  gate.resolve()
  await expect(written).rejects.toMatchObject({ code: 'OTHER_ACCOUNT' })
  await write('DELETE /sessions', {}, { by: '2' })
  expect(server.received.at(-1)).toMatchObject({ user: '2' })
})

test('a write is not sent again if it is not wanted after a limit, or if the caller does not wait', async () => {
  server.answer = () => refusal('TOO_MANY_REQUESTS', { 'retry-after': '0' })
  const { write } = await openPage()
  const refused = { code: 'TOO_MANY_REQUESTS' }
  const stopped = { onLimit: () => {}, isWanted: () => false }
  await expect(write('DELETE /sessions', {}, stopped)).rejects.toMatchObject(refused)
  await expect(write('DELETE /sessions', {})).rejects.toMatchObject(refused)
  expect(server.received.filter(({ call }) => call.startsWith('DELETE'))).toHaveLength(2)
})

test('a session closed elsewhere is reported once, and a visitor sends no token and asks for none', async () => {
  server.refresh = (n) => (n === 1 ? tokenReply(1, 300) : refusal('UNAUTHORIZED'))
  server.answer = ({ bearer }) => (bearer ? refusal('UNAUTHORIZED') : { status: 200, body: {} })
  const { call, onSessionLost } = await openPage()
  const listener = vi.fn()
  onSessionLost(listener)
  const both = await Promise.allSettled([call(me, {}), call(me, {})])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(listener).toHaveBeenCalledTimes(1)
  const before = server.received.length
  await call('GET /posts', { query: { limit: 10 } })
  expect(server.received.slice(before)).toMatchObject([
    { call: 'GET /api/v1/posts?limit=10', bearer: undefined },
  ])
})

test.each([
  ['a page just opened', 0],
  ['a page in use', 1],
])('the session of %s stays while there is no network to refresh its token', async (_, calls) => {
  server.refresh = (n) => tokenReply(n, 10)
  localStorage.setItem('had-session', '1')
  const { call, onSessionLost, hadSession } = await openPage()
  for (let made = 0; made < calls; made++) await call(me, {})
  const listener = vi.fn()
  onSessionLost(listener)
  const network = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('no network'))
  await expect(call(me, {})).rejects.toMatchObject({ code: 'OFFLINE' })
  network.mockRestore()
  expect(hadSession()).toBe(true)
  expect(listener).not.toHaveBeenCalled()
  await call(me, {})
  expect(server.received.at(-1)?.bearer).toBe(`Bearer token-${calls + 1}`)
})

test.each([400, 401, 403])(
  'a proxy that answers the refresh of a token with a %i of its own ends no session',
  async (status) => {
    server.refresh = (n) => (n === 1 ? { status, body: '<html>' } : tokenReply(n, 300))
    localStorage.setItem('had-session', '1')
    const { call, onSessionLost, hadSession } = await openPage()
    const listener = vi.fn()
    onSessionLost(listener)
    await expect(call(me, {})).rejects.toMatchObject({ code: 'INTERNAL_ERROR', status: 500 })
    expect(hadSession()).toBe(true)
    await call(me, {})
    expect(server.received.at(-1)?.bearer).toBe('Bearer token-2')
    expect(listener).not.toHaveBeenCalled()
  },
)

test('listeners learn whether there is a session after every answer of the server, not after a failure', async () => {
  server.refresh = (n) =>
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

test.each([
  ['a token that expires in less than 20 s is refreshed before the call', 19, 0, 2],
  ['a clock that is an hour ahead refreshes no more often', 300, 3_600_000, 1],
])('%s', async (_, seconds, aheadMs, refreshes) => {
  server.refresh = (n) => tokenReply(n, n === 1 ? seconds : 300, Date.now() - aheadMs)
  const { call } = await openPage()
  for (let calls = 0; calls < 3; calls++) await call(me, {})
  expect(server.refreshes()).toBe(refreshes)
})

test('a write with keepalive is sent with the current token, and again if that is refused', async () => {
  server.refresh = (n) => tokenReply(n, n === 1 ? 15 : 300)
  const { call, write } = await openPage()
  await call(me, {})
  const decide = () => write('DELETE /sessions/:id', { params: { id: '7' } }, { keepalive: true })
  await decide()
  expect(server.received.at(-1)).toMatchObject({ bearer: 'Bearer token-1' })
  expect(server.refreshes()).toBe(1)

  server.answer = ({ bearer }) =>
    bearer === 'Bearer token-1' ? refusal('UNAUTHORIZED') : { status: 204 }
  await decide()
  expect(server.received.at(-1)).toMatchObject({ bearer: 'Bearer token-2' })
})

test('a slow clock is corrected by a stored page, and any clock by a page from the network or an answer to a visitor', async () => {
  const { call, resetToken } = await openPage()
  const { serverNow, setRenderedAt } = await import('./server-clock.ts')
  const now = Date.now() / 1000
  const hoursAhead = () => Math.round((serverNow() - now) / 3600)
  setRenderedAt(now - 24 * 3600)
  expect(hoursAhead()).toBe(0)
  setRenderedAt(now + 2 * 3600)
  expect(hoursAhead()).toBe(2)
  setRenderedAt(now - 5 * 3600, 3600)
  expect(hoursAhead()).toBe(-4)
  resetToken('none')
  const date = new Date((now - 3 * 3600) * 1000).toUTCString()
  server.answer = () => ({ status: 404, headers: { date } })
  await expect(call('GET /posts', { query: {} })).rejects.toThrow()
  expect(hoursAhead()).toBe(-3)
})

test('a read that the server answers from before an outage is known as stale, until a fresh answer', async () => {
  const { call, resetToken } = await openPage()
  const { isStale } = await import('./server-clock.ts')
  resetToken('none')
  const stale = { headers: { 'cache-status': 'vslukh; hit; ttl=-7' } }
  for (const [reply, expected] of [[stale, true] as const, [{}, false] as const]) {
    server.answer = () => ({ status: 200, body: {}, ...reply })
    await call('GET /posts', { query: {} })
    expect(isStale.get()).toBe(expected)
  }
})

test('ids are encoded in the path, headers and bodies are sent, and an empty answer is undefined', async () => {
  server.answer = () => ({ status: 204 })
  const { write } = await openPage()
  await expect(write('DELETE /sessions/:id', { params: { id: 'a/b?c' } })).resolves.toBeUndefined()
  expect(server.received.at(-1)?.call).toBe('DELETE /api/v1/sessions/a%2Fb%3Fc')
  await write('POST /posts', { headers: { 'idempotency-key': 'k1' }, body: { text: 'Привет' } })
  expect(server.received.at(-1)).toMatchObject({ key: 'k1', body: '{"text":"Привет"}' })
})

const tooMany = refusal('TOO_MANY_REQUESTS', { 'retry-after': '42' })
const unavailable = { code: 'UNAVAILABLE', ...ERRORS.UNAVAILABLE }
const late = { code: 'TOO_LATE_AT_NIGHT', message: 'Ночью тише' }

test.each([
  [
    'a refusal keeps its code, message and Retry-After',
    tooMany,
    { retryAfter: 42, ...ERRORS.TOO_MANY_REQUESTS },
  ],
  ['a code of a newer server keeps its message', { status: 409, body: late }, late],
  ['a proxy’s page is no answer', { status: 502, body: '<html>' }, unavailable],
  ['a proxy’s JSON is no answer', { status: 502, body: { code: 502, message: '' } }, unavailable],
])('%s', async (_, reply, error) => {
  server.answer = () => reply
  const { call, resetToken } = await openPage()
  resetToken('none')
  const read = () => call('GET /posts', { query: {} })
  await expect(read()).rejects.toMatchObject(error)
  await server.close()
  await expect(read()).rejects.toMatchObject({ code: 'OFFLINE', status: 0 })
})
