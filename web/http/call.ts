import type { Api, CallName, WriteName } from '../../contract/api.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { CallError } from './call-error.ts'
import { type SendOptions, send } from './send.ts'
import { freshToken } from './token.ts'

type CallOptions = { signal?: AbortSignal | undefined }
type ReadName = Exclude<CallName, WriteName>

/**
 * Sends a read or a visitor's write. Throws CallError; rethrows an abort unchanged. Any call may find
 * that the session has ended, and then signs the viewer out on the screen.
 */
export const call: <N extends ReadName>(
  name: N,
  input: Input<Api[N]>,
  options?: CallOptions,
) => Promise<Answer<Api[N]>> = callAs

/** Sends a call, and once more after a 401. The server refuses a token that is not `userId`'s. */
export async function callAs<N extends CallName>(
  name: N,
  input: Input<Api[N]>,
  { signal, userId, keepalive }: CallOptions & Pick<SendOptions, 'userId' | 'keepalive'> = {},
): Promise<Answer<Api[N]>> {
  const token = await freshToken(undefined, keepalive)
  signal?.throwIfAborted()
  const sendWith = (token: string | null) => send(name, input, { token, userId, signal, keepalive })
  try {
    return await sendWith(token)
  } catch (error) {
    if (!token || !(error instanceof CallError) || error.status !== 401) throw error
    return sendWith(await freshToken(token))
  }
}
