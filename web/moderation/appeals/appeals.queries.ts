import { type QueryClient, useQuery } from '@tanstack/react-query'
import { call } from '../../http/call.ts'
import { CallError } from '../../http/call-error.ts'
import { write } from '../../http/write.ts'

const REMOVED_POSTS = ['removed-posts']

/** The viewer's posts and replies that a moderator has removed, and those that reports hide. */
export function useRemovedPosts() {
  return useQuery({
    queryKey: REMOVED_POSTS,
    queryFn: ({ signal }) => call('GET /users/current/removed-posts', {}, { signal }),
    staleTime: 0,
  })
}

/**
 * An appeal whose answer was lost is there already: the second attempt is refused, and that is as
 * good. Throws CallError.
 */
export async function sendAppeal(
  client: QueryClient,
  { id, text, by }: { id: string; text: string; by: string },
): Promise<void> {
  const input = { params: { id }, body: { text } }
  try {
    await write('POST /users/current/removed-posts/:id/appeal', input, { by })
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'ALREADY_APPEALED') throw error
  }
  void client.invalidateQueries({ queryKey: REMOVED_POSTS })
}
