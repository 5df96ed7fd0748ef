import { queryOptions } from '@tanstack/react-query'
import { call } from '../http/call.ts'
import { queryClient } from '../http/query-client.ts'
import { hidden, hide } from '../posts/cache/hidden.ts'
import { LISTS, type ListName } from '../posts/cache/list-cache.ts'
import { write } from '../session/write.ts'

/** The muted authors with their names. The account contains only their ids. */
export const mutesQuery = queryOptions({
  queryKey: ['mutes'],
  queryFn: async ({ signal }) => {
    const { users } = await call('GET /users/current/mutes', {}, { signal })
    hide({ authors: users.map(({ id }) => id) })
    return users
  },
})

/** The lists that the server sends without the muted authors. */
const LISTS_WITHOUT_MUTED: readonly ListName[] = ['received', 'search']

/** How long an author is hidden; null if the author is shown. */
export type Muting = 'for good' | 'for a week' | null

/** Mutes or unmutes an author. Throws CallError. */
export async function setAuthorMuted(id: string, muting: Muting): Promise<void> {
  const isMuted = muting !== null
  const params = { id }
  if (isMuted) {
    await write('PUT /users/:id/mute', {
      params,
      query: muting === 'for a week' ? { days: 7 } : {},
    })
  } else await write('DELETE /users/:id/mute', { params })
  const others = hidden.get().authors.filter((author) => author !== id)
  hide({ authors: isMuted ? [id, ...others] : others })
  void queryClient.invalidateQueries({ queryKey: mutesQuery.queryKey })
  if (isMuted) return
  for (const name of LISTS_WITHOUT_MUTED) {
    void queryClient.invalidateQueries({ queryKey: [LISTS, name] })
  }
}
