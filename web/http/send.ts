import type { Api, CallName } from '../../contract/api.ts'
import { API_PREFIX, READ_AFTER_WRITE_MS, REQUEST_TIMEOUT_MS } from '../../contract/constants.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { localStore } from '../platform/storage.ts'
import { CallError, errorOf, generalError, noAnswer } from './call-error.ts'
import type { EarlyRefresh } from './early-refresh.ts'
import { readStaleness, setServerClock } from './server-clock.ts'

export type SendOptions = {
  token?: string | null
  /** The id of the caller, which the server compares with the token's user. */
  userId?: string | undefined
  signal?: AbortSignal | undefined
  keepalive?: boolean | undefined
  /** The response of a request that was sent earlier. If it is given, nothing is sent. */
  answered?: EarlyRefresh | null
}
type RequestInput = {
  params?: Record<string, string>
  query?: Record<string, string | number | undefined>
  headers?: Record<string, string | undefined>
  body?: unknown
}

const WROTE_AT = 'wrote-at'

/** Sends one request within 10 s. Throws CallError; rethrows an abort by `signal` unchanged. */
export async function send<N extends CallName>(
  name: N,
  input: Input<Api[N]>,
  { token, userId, signal, keepalive, answered }: SendOptions,
): Promise<Answer<Api[N]>> {
  const { params, query, headers, body }: RequestInput = input
  const [method = '', path = ''] = name.split(' ')
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  try {
    const request = () =>
      fetch(`${location.origin}${API_PREFIX}${fillPath(path, params)}${search(query)}`, {
        method,
        keepalive: !!keepalive,
        headers: definedEntries({
          ...headers,
          'x-user': userId,
          ...(token && { authorization: `Bearer ${token}`, ...freshness(method) }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        }),
        // Otherwise Chromium would answer a user's read with the response preloaded for a visitor.
        ...(token && { mode: 'same-origin' }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    const response = answered?.response ?? (await request())
    // A user's clock is set by refreshes, which are sent without a token.
    if (!token) setServerClock(response.headers, answered?.receivedAt)
    if (!response.ok) throw errorOf(response, await response.json().catch(() => undefined))
    if (method === 'GET' && path.startsWith('/posts')) readStaleness(response.headers)
    const answer: unknown = response.status === 204 ? undefined : await response.json()
    return answer as Answer<Api[N]>
  } catch (error) {
    if (signal?.aborted || error instanceof CallError) throw error
    if (timeout.aborted) throw noAnswer('TIMEOUT')
    throw error instanceof SyntaxError ? generalError('INTERNAL_ERROR') : noAnswer('OFFLINE')
  } finally {
    if (token && method !== 'GET') localStore.write(WROTE_AT, String(Date.now()))
  }
}

/** Makes reads soon after a write bypass all caches, so that the write shows at once. */
function freshness(method: string): Record<string, string> {
  const ms = Date.now() - Number(localStore.read(WROTE_AT))
  const mayLackIt = method === 'GET' && ms >= 0 && ms < READ_AFTER_WRITE_MS
  return mayLackIt ? { 'cache-control': 'no-cache' } : {}
}

function search(query: RequestInput['query'] = {}): string {
  const parameters = definedEntries(query)
  return parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : ''
}

function definedEntries(all: NonNullable<RequestInput['query']>): [name: string, value: string][] {
  return Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
}

function fillPath(path: string, params: Record<string, string> = {}): string {
  return path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
}
