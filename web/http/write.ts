import type { Api, WriteName } from '../../contract/api.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { wait } from '../platform/timing.ts'
import { viewerId } from '../session/viewer.ts'
import { callAs } from './call.ts'
import { generalError, isShortLimit, type ShortLimit } from './call-error.ts'

type WriteOptions = {
  /** The id of the user who began the write. Default: the viewer. */
  by?: string | undefined
  /** Called before waiting for a short limit. If absent, the limit is thrown. */
  onLimit?: (error: ShortLimit) => void
  /** Called after the wait. If it returns false, the limit is thrown. */
  isWanted?: () => boolean
  /** Whether the request continues when the page is left. */
  keepalive?: boolean
}

/** Sends a user's write. Throws CallError: OTHER_ACCOUNT if another user has signed in. */
export async function write<N extends WriteName>(
  name: N,
  input: Input<Api[N]>,
  { by = viewerId() ?? '', onLimit, isWanted = () => true, keepalive }: WriteOptions = {},
): Promise<Answer<Api[N]>> {
  for (;;) {
    try {
      const answer = await callAs(name, input, { userId: by, keepalive })
      if ((viewerId() ?? by) !== by) throw generalError('OTHER_ACCOUNT')
      return answer
    } catch (error) {
      if (!onLimit || !isShortLimit(error)) throw error
      onLimit(error)
      await wait(error.retryAfter * 1000)
      if (!isWanted()) throw error
    }
  }
}
