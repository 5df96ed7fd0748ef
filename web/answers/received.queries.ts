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

/** `fresh` was new when the list was opened: its numbers are above `seen`. */
type Received = { seen: number; fresh: readonly string[]; mentions: readonly string[] }

const NOTHING_YET: Received = { seen: 0, fresh: [], mentions: [] }

function receivedKey(entryKey: string) {
  return [LISTS, 'received', entryKey, 'about'] as const
}

/** Returns the source of what the viewer has received. A read that is visible marks it as seen. */
export function receivedSource(entryKey: string): ListSource {
  return {
    name: 'received',
    read: async (cursor, signal) => {
      const query = pageAfter(cursor)
      const page = await call('GET /posts/replies/received', { query }, { signal })
      queryClient.setQueryData<Received>(receivedKey(entryKey), (known) => withPage(known, page))
      const newest = Math.max(page.seen, ...page.posts.map((post) => post.received_no))
      const by = viewerId() ?? ''
      if (newest > page.seen) whenVisible(() => void markSeen(newest, by))
      // The bell may show a reply that is gone, or was seen elsewhere.
      else if (cursor === '') void refreshReceived()
      return page
    },
  }
}

/** Adds a page. `seen` stays as it was when the list was opened. */
function withPage(
  known: Received | undefined,
  { posts, seen: now }: ReceivedRepliesPage,
): Received {
  const { seen, fresh, mentions } = known ?? { ...NOTHING_YET, seen: now }
  const added = posts.filter((post) => post.received_no > seen && !fresh.includes(post.id))
  const named = posts.filter((post) => post.is_mention && !mentions.includes(post.id))
  const ids = (list: typeof posts) => list.map(({ id }) => id)
  return { seen, fresh: [...fresh, ...ids(added)], mentions: [...mentions, ...ids(named)] }
}

/** Returns the ids of what was new when the list was opened, and those of mentions. */
export function useReceived(): Received {
  const queryKey = receivedKey(useEntry().key)
  return useQuery<Received>({ queryKey, queryFn: skipToken }).data ?? NOTHING_YET
}

/** Marks replies as seen by their reader. Ignores a failure, because the next visit marks them. */
async function markSeen(seen: number, by: string): Promise<void> {
  await write('PUT /users/current/received', { body: { seen } }, { by }).catch(() => {})
  await receivedChanged()
}
