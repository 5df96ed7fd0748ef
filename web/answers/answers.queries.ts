import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { ReceivedPage } from '../../contract/answers.ts'
import { pageAfter } from '../../contract/pages.ts'
import { call } from '../http/call.ts'
import type { ListSource } from '../posts/cache/use-post-list.ts'

/** What the viewer has not seen, and of which posts they want no replies. */
export const receivedQuery = queryOptions({
  queryKey: ['received'],
  queryFn: ({ signal }) => call('GET /users/current/received', {}, { signal }),
  // The live stream tells when it is to be read again.
  staleTime: Number.POSITIVE_INFINITY,
})

export function refreshReceived(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: receivedQuery.queryKey })
}

/** The numbers after which the replies were new when the list was opened, by history entry. */
const seenKey = (entryKey: string) => ['seen-before', entryKey] as const

/** The replies of others to the viewer. To read the first page is to see what it shows. */
export function receivedSource(client: QueryClient, entryKey: string): ListSource {
  return {
    name: 'received',
    read: async (cursor, signal) => {
      const query = pageAfter(cursor)
      const page = await call('GET /posts/replies/received', { query }, { signal })
      client.setQueryData<readonly string[]>(newKey(entryKey), (known = []) => [
        ...known,
        ...newReplies(client, entryKey, page),
      ])
      const newest = page.posts[0]?.received_no
      if (cursor === '' && newest !== undefined) void markSeen(client, newest)
      return page
    },
  }
}

export const newKey = (entryKey: string) => ['new-replies', entryKey] as const

/** A page that is read later compares with the mark as it was when the list was opened. */
function newReplies(client: QueryClient, entryKey: string, { posts, seen }: ReceivedPage) {
  const before = client.getQueryData<number>(seenKey(entryKey)) ?? seen
  client.setQueryData(seenKey(entryKey), before)
  return posts.filter((post) => post.received_no > before).map(({ id }) => id)
}

/** What fails is marked at the next visit. */
async function markSeen(client: QueryClient, seen: number): Promise<void> {
  await call('PUT /users/current/received', { body: { seen } }).catch(() => {})
  await refreshReceived(client)
}

export async function setMuted(client: QueryClient, id: string, isMuted: boolean): Promise<void> {
  await call(isMuted ? 'PUT /posts/:id/mute' : 'DELETE /posts/:id/mute', { params: { id } })
  await refreshReceived(client)
}

export async function setReplyMails(client: QueryClient, wantsMail: boolean): Promise<void> {
  await call('PUT /users/current/reply-mails', { body: { wantsMail } })
  await refreshReceived(client)
}
