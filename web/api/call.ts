import type { Api, CallName } from '../../contract/api.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { CallError, otherAccount } from './call-error.ts'
import { send } from './send.ts'
import { freshToken } from './token.ts'

type CallOptions = {
  signal?: AbortSignal | undefined
  /** The user who makes the call. Another one may have signed in since, in this tab or in another: then nothing is sent. */
  userId?: string
}

/** The token that the viewer was last asked for with, and whose it is. */
let known: { token: string; userId: string } | null = null

/**
 * Calls an endpoint of the API as the viewer, within 10 s, and returns its answer. After a 401 the token is refreshed and
 * the call is repeated, once. Throws CallError, whose message may be shown; an abort by `signal` is thrown as it is.
 */
export async function call<N extends CallName>(
  name: N,
  input: Input<Api[N]>,
  { signal, userId }: CallOptions = {},
): Promise<Answer<Api[N]>> {
  const token = await freshToken()
  signal?.throwIfAborted()

  async function sendWith(token: string | null): Promise<Answer<Api[N]>> {
    if (token && userId !== undefined && userId !== (await ownerOf(token))) throw otherAccount()
    const { answer } = await send(name, input, { token, signal })
    if (token && name === 'GET /users/current') {
      known = { token, userId: (answer as Answer<Api['GET /users/current']>).id }
    }
    return answer
  }

  try {
    return await sendWith(token)
  } catch (error) {
    if (!token || !(error instanceof CallError) || error.status !== 401) throw error
    return sendWith(await freshToken(token))
  }
}

/** Whose a token is, asked of the server once for each token. */
async function ownerOf(token: string): Promise<string> {
  if (known?.token !== token) {
    const { answer } = await send('GET /users/current', {}, { token })
    known = { token, userId: answer.id }
  }
  return known.userId
}
