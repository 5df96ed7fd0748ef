import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { NAME_START_MIN } from '../../../contract/constants.ts'
import type { Post } from '../../../contract/posts.ts'
import { call } from '../../http/call.ts'
import { wait } from '../../platform/timing.ts'

/** A letter typed sooner replaces the read. */
const PAUSE_MS = 150

const NOBODY: readonly Post['owner'][] = []

/** Returns the people whose names begin so. Until they are read, those known of fewer letters. */
export function useSuggestedNames(typed: string, postId: string): readonly Post['owner'][] {
  const start = typed.toLowerCase()
  const { data } = useQuery({
    queryKey: ['names', postId, start],
    queryFn: async ({ signal }) => {
      await wait(PAUSE_MS)
      signal.throwIfAborted()
      const query = { start, ...(postId !== '' && { postId }) }
      return (await call('GET /users/suggestions', { query }, { signal })).users
    },
    enabled: start.length >= NAME_START_MIN,
    placeholderData: keepPreviousData,
    // Without suggestions a name is typed to its end.
    retry: false,
  })
  if (start.length < NAME_START_MIN) return NOBODY
  const found = (data ?? NOBODY).filter(({ username }) => username.toLowerCase().startsWith(start))
  // A name that is complete needs no suggestion.
  return found.length === 1 && found[0]?.username.toLowerCase() === start ? NOBODY : found
}
