import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CallError, call } from '../../api/call.ts'
import { beginRead, type CachedPost, putMissing, putPosts, usePost } from './post-cache.ts'

export type ReadPost =
  | { state: 'loading' }
  | { state: 'missing' }
  | { state: 'failed'; error: Error; retry: () => void }
  | { state: 'ready'; post: CachedPost }

/** One post: as cached, at once, and read anew from the server meanwhile. */
export function useReadPost(id: string): ReadPost {
  const client = useQueryClient()
  const cached = usePost(id)
  const { error, refetch } = useQuery({
    queryKey: ['read-post', id],
    queryFn: async ({ signal }) => {
      const begun = beginRead()
      try {
        putPosts(client, [await call('GET /posts/:id', { params: { id } }, { signal })], begun)
      } catch (reason) {
        if (!(reason instanceof CallError) || reason.status !== 404) throw reason
        putMissing(client, id, begun)
      }
      // The post stands in its own entry; this one only says that it was read.
      return true
    },
  })

  if (cached) return { state: 'ready', post: cached }
  if (cached === null) return { state: 'missing' }
  return error ? { state: 'failed', error, retry: () => void refetch() } : { state: 'loading' }
}
