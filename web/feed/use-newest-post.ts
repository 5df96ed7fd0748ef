import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'react-router'
import { call } from '../lib/call.ts'

const EVERY_MS = 20_000

/**
 * The id of the newest post on the wall, asked for every 20 s while the page is looked at and the network is there.
 * `known` is the newest one of the list, which needs no asking.
 */
export function useNewestPost(known: string | null): string | null {
  const visit = useLocation().key
  const { data } = useQuery({
    queryKey: ['newest-post', visit],
    queryFn: async ({ signal }) => {
      const { posts } = await call('GET /posts', { query: { limit: 1 } }, { signal })
      return posts[0]?.id ?? null
    },
    initialData: known,
    networkMode: 'online',
    retry: false,
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: true,
  })
  return data
}
