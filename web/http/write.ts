import type { Api, WriteName } from '../../contract/api.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { wait } from '../platform/timing.ts'
import { viewerId } from '../session/viewer.ts'
import { callAs } from './call.ts'
import { isShortLimit, type ShortLimit } from './call-error.ts'

type WriteOptions = {
  /** The id of the user who began the write, if that was before this call. */
  by?: string | undefined
  /** Shows a short limit, after which the write is sent again. Without it the limit is thrown. */
  onLimit?: (error: ShortLimit) => void
  /** Checked after the wait for a limit, which is thrown if the write is not wanted any more. */
  isWanted?: () => boolean
  /** Whether the write is sent even while the page is left. */
  keepalive?: boolean
}

/**
 * Makes a user's write. It bears the id of the account that began it, and the server refuses it
 * with OTHER_ACCOUNT once somebody else has signed in. Throws CallError.
 */
export async function write<N extends WriteName>(
  name: N,
  input: Input<Api[N]>,
  { by = viewerId() ?? '', onLimit, isWanted = () => true, keepalive }: WriteOptions = {},
): Promise<Answer<Api[N]>> {
  for (;;) {
    try {
      return await callAs(name, input, { userId: by, keepalive })
    } catch (error) {
      if (!onLimit || !isShortLimit(error)) throw error
      onLimit(error)
      await wait(error.retryAfter * 1000)
      if (!isWanted()) throw error
    }
  }
}
