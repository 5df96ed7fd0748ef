import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { call } from '../http/call.ts'
import { write } from '../http/write.ts'
import { RECEIVED_KEY } from './received-key.ts'

/** The number of unseen replies, and the viewer's muted posts. Seeded when the account is read. */
export const receivedQuery = queryOptions({
  queryKey: RECEIVED_KEY,
  queryFn: ({ signal }) => call('GET /users/current/received', {}, { signal }),
})

export function refreshReceived(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: RECEIVED_KEY })
}

export async function setMuted(client: QueryClient, id: string, isMuted: boolean): Promise<void> {
  await write(isMuted ? 'PUT /posts/:id/mute' : 'DELETE /posts/:id/mute', { params: { id } })
  await refreshReceived(client)
}

export async function setReplyMails(client: QueryClient, wantsMail: boolean): Promise<void> {
  await write('PUT /users/current/reply-mails', { body: { wantsMail } })
  await refreshReceived(client)
}
