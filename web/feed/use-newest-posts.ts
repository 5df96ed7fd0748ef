import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'react-router'
import { wallSource } from '../posts/cache/post-sources.ts'

const EVERY_MS = 20_000
const NONE: readonly string[] = []

/**
 * The ids of the newest page of the wall, asked for every 20 s while the page is looked at and the network is there;
 * none before the first time. It is the wall's own first page, which the server keeps at hand.
 */
export function useNewestPosts(): readonly string[] {
  const visit = useLocation().key
  const { data } = useQuery({
    queryKey: ['newest-posts', visit],
    queryFn: async ({ signal }) => {
      const { posts } = await wallSource.read(null, signal)
      return posts.map(({ id }) => id)
    },
    initialData: NONE,
    networkMode: 'online',
    retry: false,
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: true,
  })
  return data
}
