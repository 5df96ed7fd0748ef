import type { Api, WriteName } from '../../contract/api.ts'
import type { Answer, Input } from '../../contract/endpoint.ts'
import { callAs } from '../http/call.ts'
import {
  CallError,
  generalError,
  isShortLimit,
  isUnanswered,
  type ShortLimit,
} from '../http/call-error.ts'
import { wait } from '../platform/timing.ts'
import { viewerId } from './viewer.ts'

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

/** Writes after which the server answers 404 if they are sent again. */
const DONE_IF_GONE: ReadonlySet<WriteName> = new Set([
  'DELETE /posts/:id',
  'DELETE /sessions/:id',
  // The report may have hidden the post.
  'POST /posts/:id/reports',
  'POST /moderation/posts/:id/decision',
])

/** Such writes whose answer was lost, so that the server may have done them. */
const unanswered = new Set<string>()

/** Sends a user's write. Throws CallError: OTHER_ACCOUNT if another user has signed in. */
export async function write<N extends WriteName>(
  name: N,
  input: Input<Api[N]>,
  { by = viewerId() ?? '', onLimit, isWanted = () => true, keepalive }: WriteOptions = {},
): Promise<Answer<Api[N]>> {
  const endsInGone = DONE_IF_GONE.has(name)
  const request = endsInGone ? JSON.stringify([by, name, input]) : ''
  for (;;) {
    try {
      const answer = await callAs(name, input, { userId: by, keepalive })
      unanswered.delete(request)
      if ((viewerId() ?? by) !== by) throw generalError('OTHER_ACCOUNT')
      return answer
    } catch (error) {
      if (endsInGone && isUnanswered(error)) unanswered.add(request)
      // A visitor gets 404 for the calls of moderators too.
      const isGone = error instanceof CallError && error.status === 404 && viewerId() === by
      if (isGone && unanswered.delete(request)) return undefined as Answer<Api[N]>
      if (!onLimit || !isShortLimit(error)) throw error
      onLimit(error)
      await wait(error.retryAfter * 1000)
      if (!isWanted()) throw error
    }
  }
}
