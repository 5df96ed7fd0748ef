import type { Api, CallName } from '../../contract/api.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { CallError } from './call-error.ts'
import { send } from './send.ts'
import { freshToken } from './token.ts'

/**
 * Calls an endpoint of the API as the viewer, within 10 s, and returns its answer. After a 401 the token is refreshed and
 * the call is repeated, once. Throws CallError, whose message may be shown; an abort by `signal` is thrown as it is.
 */
export async function call<N extends CallName>(
  name: N,
  input: Input<Api[N]>,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Answer<Api[N]>> {
  const token = await freshToken()
  signal?.throwIfAborted()
  try {
    return (await send(name, input, { token, signal })).answer
  } catch (error) {
    if (!token || !(error instanceof CallError) || error.status !== 401) throw error
    const refreshed = await freshToken(token)
    return (await send(name, input, { token: refreshed, signal })).answer
  }
}
