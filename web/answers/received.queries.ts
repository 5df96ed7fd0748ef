import { skipToken, useQuery } from '@tanstack/react-query'
import type { ReceivedRepliesPage } from '../../contract/answers.ts'
import { pageAfter } from '../../contract/pages.ts'
import { useEntry } from '../history/entry.tsx'
import { call } from '../http/call.ts'
import { queryClient } from '../http/query-client.ts'
import { whenVisible } from '../platform/timing.ts'
import { LISTS } from '../posts/cache/list-cache.ts'
import type { ListSource } from '../posts/cache/use-post-list.ts'
import { viewerId } from '../session/viewer.ts'
import { write } from '../session/write.ts'
import { receivedChanged, refreshReceived } from './answers.queries.ts'

/** The replies that were new when the list was opened: their numbers are above `seen`. */
type NewReplies = { seen: number; ids: readonly string[] }

function newRepliesKey(entryKey: string) {
  return [LISTS, 'received', entryKey, 'new'] as const
}

/** Returns the source of the replies to the viewer. A read that is visible marks them as seen. */
export function receivedSource(entryKey: string): ListSource {
  return {
    name: 'received',
    read: async (cursor, signal) => {
      const query = pageAfter(cursor)
      const page = await call('GET /posts/replies/received', { query }, { signal })
      queryClient.setQueryData<NewReplies>(newRepliesKey(entryKey), (known) => withNew(known, page))
      const newest = Math.max(page.seen, ...page.posts.map((post) => post.received_no))
      const by = viewerId() ?? ''
      if (newest > page.seen) whenVisible(() => void markSeen(newest, by))
      // The bell may show a reply that is gone, or was seen elsewhere.
      else if (cursor === '') void refreshReceived()
      return page
    },
  }
}

/** Adds the new replies of a page. `seen` stays as it was when the list was opened. */
function withNew(known: NewReplies | undefined, page: ReceivedRepliesPage): NewReplies {
  const { seen, ids } = known ?? { seen: page.seen, ids: [] }
  const added = page.posts.filter((post) => post.received_no > seen && !ids.includes(post.id))
  return { seen, ids: [...ids, ...added.map(({ id }) => id)] }
}

/** Returns the ids of the replies that were new when the list was opened. */
export function useNewReplies(): readonly string[] {
  const queryKey = newRepliesKey(useEntry().key)
  return useQuery<NewReplies>({ queryKey, queryFn: skipToken }).data?.ids ?? []
}

/** Marks replies as seen by their reader. Ignores a failure, because the next visit marks them. */
async function markSeen(seen: number, by: string): Promise<void> {
  await write('PUT /users/current/received', { body: { seen } }, { by }).catch(() => {})
  await receivedChanged()
}
