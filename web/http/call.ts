import type { Api, CallName } from '../../contract/api.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { freshToken } from '../session/token.ts'
import { CallError, otherAccount } from './call-error.ts'
import { send } from './send.ts'

type CallOptions = {
  signal?: AbortSignal | undefined
  /** The user who makes the call. If somebody else has signed in since, nothing is sent. */
  userId?: string
}

let known: { token: string; userId: string } | null = null

/** Sends a call within 10 s, and once more after a 401. Throws CallError, and an abort as it is. */
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

async function ownerOf(token: string): Promise<string> {
  if (known?.token !== token) {
    const { answer } = await send('GET /users/current', {}, { token })
    known = { token, userId: answer.id }
  }
  return known.userId
}
