import { queryOptions } from '@tanstack/react-query'
import { call } from '../http/call.ts'
import { queryClient } from '../http/query-client.ts'
import { write } from '../http/write.ts'
import { hidden, hide } from '../posts/cache/hidden.ts'
import { LISTS } from '../posts/cache/list-cache.ts'

/** The muted authors with their names. The account contains only their ids. */
export const mutesQuery = queryOptions({
  queryKey: ['mutes'],
  queryFn: async ({ signal }) => {
    const { users } = await call('GET /users/current/mutes', {}, { signal })
    hide({ authors: users.map(({ id }) => id) })
    return users
  },
})

/** Mutes or unmutes an author. Unmuting reads the received replies again. Throws CallError. */
export async function setAuthorMuted(id: string, isMuted: boolean): Promise<void> {
  await write(isMuted ? 'PUT /users/:id/mute' : 'DELETE /users/:id/mute', { params: { id } })
  const others = hidden.get().authors.filter((author) => author !== id)
  hide({ authors: isMuted ? [id, ...others] : others })
  void queryClient.invalidateQueries({ queryKey: mutesQuery.queryKey })
  if (!isMuted) void queryClient.invalidateQueries({ queryKey: [LISTS, 'received'] })
}
