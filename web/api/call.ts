import type { Api, CallName } from '../../contract/api.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { CallError } from './call-error.ts'
import { send } from './send.ts'
import { freshToken } from './token.ts'

export { CallError } from './call-error.ts'

/**
 * Makes a call of the API: fills its path, adds the bearer token of a signed-in viewer, waits 10 s at most. A 401 renews
 * the token once and tries once more. Throws CallError, whose message may be shown; an abort passes through as it is.
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
    const renewed = await freshToken(token)
    return (await send(name, input, { token: renewed, signal })).answer
  }
}
