import ky, { HTTPError, TimeoutError } from 'ky'
import type { Api, CallName } from '../../contract/api.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { REQUEST_TIMEOUT_MS } from '../../contract/limits.ts'
import { type CallError, garbled, noAnswer, refusal } from './call-error.ts'

type Sending = { token?: string | null; signal?: AbortSignal | undefined }
type Parts = {
  params?: Record<string, string>
  query?: Record<string, string | number | undefined>
  headers?: Record<string, string | undefined>
  body?: unknown
}

const http = ky.create({
  timeout: REQUEST_TIMEOUT_MS,
  retry: 0,
  credentials: 'same-origin',
})

/**
 * Sends one call as given, with no thought of who the viewer is, and returns its answer with the answer's headers.
 * Throws CallError; an abort by `signal` passes through as it is.
 */
export async function send<N extends CallName>(
  name: N,
  input: Input<Api[N]>,
  { token, signal }: Sending,
): Promise<{ answer: Answer<Api[N]>; headers: Headers }> {
  const { params, query, headers, body }: Parts = input
  const [method, path] = splitName(name)
  try {
    const response = await http(`${origin()}/api/v1${fillPath(path, params)}`, {
      method,
      headers: { ...headers, authorization: token ? `Bearer ${token}` : undefined },
      ...(query && { searchParams: query }),
      ...(body !== undefined && { json: body }),
      ...(signal && { signal }),
    })
    const answer: unknown = response.status === 204 ? undefined : await response.json()
    return { answer: answer as Answer<Api[N]>, headers: response.headers }
  } catch (error) {
    if (signal?.aborted) throw error
    throw toCallError(error)
  }
}

/** Where the API lives: beside the page. A Request needs an absolute address, which a page on the server has none of. */
function origin(): string {
  return globalThis.location?.origin ?? ''
}

function splitName(name: CallName): [method: string, path: string] {
  const at = name.indexOf(' ')
  return [name.slice(0, at), name.slice(at + 1)]
}

function fillPath(path: string, params: Record<string, string> = {}): string {
  return path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
}

function toCallError(error: unknown): CallError {
  if (error instanceof HTTPError) return refusal(error.response, error.data)
  if (error instanceof TimeoutError) return noAnswer('TIMEOUT')
  if (error instanceof SyntaxError) return garbled()
  return noAnswer('OFFLINE')
}
