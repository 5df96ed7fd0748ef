import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLocation } from 'react-router'
import type { PostPage } from '../../../contract/posts.ts'
import {
  type CachedPage,
  type CachedPages,
  changesKey,
  hasNewer,
  LIST_LIFETIME_MS,
  type ListName,
  type LocalChanges,
  listIds,
  NO_CHANGES,
  pagesKey,
} from './list-cache.ts'
import { putPosts, startRead } from './post-cache.ts'

/** Where a list comes from: `read` returns the page after `cursor`, or the first one for null. */
export type ListSource = {
  name: ListName
  read: (cursor: string | null, signal?: AbortSignal) => Promise<PostPage>
}

export type PostListView = {
  ids: readonly string[]
  /** Whether a newer first page, as ids, has posts published elsewhere since the list was read. */
  hasNewer: (firstPage: readonly string[]) => boolean
  state: 'loading' | 'failed' | 'ready'
  error: Error | null
  hasMore: boolean
  /** The length of the whole list when its first page was read. It stays the same as more is read: every post states it. */
  total: number
  more: 'idle' | 'loading' | 'failed'
  /** Reads the next page; does nothing while one is being read or after the last. */
  loadMore: () => void
  /** Tries again what failed: the first page or the next one. */
  retry: () => void
  /** Replaces everything that was read with a newer first page. Throws CallError and changes nothing when that fails. */
  refresh: () => Promise<void>
}

const LIFETIME = { gcTime: LIST_LIFETIME_MS, staleTime: Number.POSITIVE_INFINITY }

/** A list of posts, page by page, as the person left it when they visited the page before. */
export function usePostList({ name, read }: ListSource): PostListView {
  const client = useQueryClient()
  const visit = useLocation().key
  const queryKey = pagesKey(name, visit)

  async function readPage(cursor: string | null, signal?: AbortSignal): Promise<CachedPage> {
    const version = startRead()
    const { posts, nextCursor, total } = await read(cursor, signal)
    return { ids: putPosts(client, posts, version), nextCursor, total }
  }

  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    refetchOnReconnect: (list) => list.state.data === undefined,
    ...LIFETIME,
  })
  const { data: changes = NO_CHANGES } = useQuery<LocalChanges>({
    queryKey: changesKey(name, visit),
    queryFn: skipToken,
    ...LIFETIME,
  })
  const pages = query.data?.pages
  const list = useMemo(
    () => ({ pages: pages?.map((page) => page.ids) ?? [], ...changes }),
    [pages, changes],
  )
  const ids = useMemo(() => listIds(list), [list])

  return {
    ids,
    hasNewer: (firstPage) => hasNewer(list, firstPage),
    state: query.isPending ? 'loading' : pages ? 'ready' : 'failed',
    error: query.error,
    hasMore: query.hasNextPage,
    total: pages?.[0]?.total ?? 0,
    more: query.isFetchingNextPage ? 'loading' : query.isFetchNextPageError ? 'failed' : 'idle',
    loadMore: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage()
    },
    retry: () => void (pages ? query.fetchNextPage() : query.refetch()),
    refresh: async () => {
      const first = await readPage(null)
      await client.cancelQueries({ queryKey })
      client.setQueryData<CachedPages>(queryKey, { pages: [first], pageParams: [null] })
      client.setQueryData<LocalChanges>(changesKey(name, visit), NO_CHANGES)
    },
  }
}
