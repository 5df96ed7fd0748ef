import { queryOptions } from '@tanstack/react-query'
import { LIVE_RECENT_MS } from '../../contract/constants.ts'
import { call } from '../http/call.ts'
import { queryClient } from '../http/query-client.ts'
import { createTabChannel } from '../platform/tabs.ts'
import { RECEIVED_KEY } from '../posts/cache/posts.queries.ts'
import { write } from '../session/write.ts'

/** The number of unseen replies, and the viewer's muted posts. Seeded when the account is read. */
export const receivedQuery = queryOptions({
  queryKey: RECEIVED_KEY,
  queryFn: ({ signal }) => call('GET /users/current/received', {}, { signal }),
  // A bell that was not there meanwhile hears only of replies since then.
  staleTime: LIVE_RECENT_MS,
})

const changes = createTabChannel<null>('received')
changes.subscribe(() => void refreshReceived())

export function refreshReceived(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: RECEIVED_KEY })
}

/** Reads again what the viewer has changed, also in other tabs. */
export function receivedChanged(): Promise<void> {
  changes.post(null)
  return refreshReceived()
}

export async function setMuted(id: string, isMuted: boolean): Promise<void> {
  await write(isMuted ? 'PUT /posts/:id/muted' : 'DELETE /posts/:id/muted', { params: { id } })
  await receivedChanged()
}

export async function setReplyMails(wantsMail: boolean): Promise<void> {
  await write('PUT /users/current/reply-mails', { body: { wantsMail } })
  await receivedChanged()
}
