import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { TITLES } from '../../../contract/pages.ts'
import type { Post } from '../../../contract/posts.ts'
import { call } from '../../http/call.ts'
import { CallError } from '../../http/call-error.ts'
import { type CachedPost, nextVersion, putPosts, setMissing, usePost } from './post-cache.ts'

export type ReadPost =
  | { state: 'loading' }
  | { state: 'missing' }
  | { state: 'failed'; error: Error; retry: () => void }
  | { state: 'ready'; post: CachedPost }

export const MISSING_POST = {
  title: TITLES.noPost,
  text: 'Запись не существует или была удалена',
}

export function seedPost(client: QueryClient, id: string, post: Post | null): void {
  if (post) putPosts(client, [post])
  else setMissing(client, id, nextVersion())
  client.setQueryData(readKey(id), true)
}

/** Returns the cached post at once, while it is read again. */
export function useReadPost(id: string): ReadPost {
  const client = useQueryClient()
  const cached = usePost(id)
  const { error, refetch } = useQuery({
    queryKey: readKey(id),
    queryFn: async ({ signal }) => {
      const version = nextVersion()
      try {
        putPosts(client, [await call('GET /posts/:id', { params: { id } }, { signal })], version)
      } catch (reason) {
        if (!(reason instanceof CallError) || reason.status !== 404) throw reason
        setMissing(client, id, version)
      }
      // The post has an entry of its own; this one only records that it was read.
      return true
    },
  })

  if (cached) return { state: 'ready', post: cached }
  if (cached === null) return { state: 'missing' }
  return error ? { state: 'failed', error, retry: () => void refetch() } : { state: 'loading' }
}

function readKey(id: string) {
  return ['read-post', id] as const
}
