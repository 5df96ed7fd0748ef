import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLocation } from 'react-router'
import type { PostPage } from '../../../contract/posts.ts'
import {
  type CachedPage,
  type CachedPages,
  changesKey,
  LIST_KEPT_MS,
  type ListName,
  type LocalChanges,
  NO_CHANGES,
  pagesKey,
} from './list-cache.ts'
import { beginRead, putPosts } from './post-cache.ts'
import { isBehind, listIds } from './post-list.ts'

/** Where a list comes from: `read` gets the page after `cursor`, or the first one for null. */
export type ListSource = {
  name: ListName
  read: (cursor: string | null, signal?: AbortSignal) => Promise<PostPage>
}

export type PostListView = {
  ids: readonly string[]
  /** Whether a newer first page, as ids, has posts published elsewhere since the list was read. */
  isBehind: (firstPage: readonly string[]) => boolean
  state: 'loading' | 'failed' | 'ready'
  error: Error | null
  hasMore: boolean
  /** How long the whole list was when its first page was read: the same while one reads on, for every post tells it. */
  total: number
  more: 'idle' | 'loading' | 'failed'
  /** Reads the next page; does nothing while one is under way or after the last. */
  loadMore: () => void
  /** Tries again what failed: the first page or the next one. */
  retry: () => void
  /** Puts a newer first page in place of all that was read. Throws CallError and changes nothing when it fails. */
  renew: () => Promise<void>
}

const KEPT = { gcTime: LIST_KEPT_MS, staleTime: Number.POSITIVE_INFINITY }

/** A list of posts, page by page, as this visit of the page left it. */
export function usePostList({ name, read }: ListSource): PostListView {
  const client = useQueryClient()
  const visit = useLocation().key
  const queryKey = pagesKey(name, visit)

  async function readPage(cursor: string | null, signal?: AbortSignal): Promise<CachedPage> {
    const begun = beginRead()
    const { posts, nextCursor, total } = await read(cursor, signal)
    return { ids: putPosts(client, posts, begun), nextCursor, total }
  }

  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    refetchOnReconnect: (list) => list.state.data === undefined,
    ...KEPT,
  })
  const { data: changes = NO_CHANGES } = useQuery<LocalChanges>({
    queryKey: changesKey(name, visit),
    queryFn: skipToken,
    ...KEPT,
  })
  const pages = query.data?.pages
  const list = useMemo(
    () => ({ pages: pages?.map((page) => page.ids) ?? [], ...changes }),
    [pages, changes],
  )
  const ids = useMemo(() => listIds(list), [list])

  return {
    ids,
    isBehind: (firstPage) => isBehind(list, firstPage),
    state: query.isPending ? 'loading' : pages ? 'ready' : 'failed',
    error: query.error,
    hasMore: query.hasNextPage,
    total: pages?.[0]?.total ?? 0,
    more: query.isFetchingNextPage ? 'loading' : query.isFetchNextPageError ? 'failed' : 'idle',
    loadMore: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage()
    },
    retry: () => void (pages ? query.fetchNextPage() : query.refetch()),
    renew: async () => {
      const first = await readPage(null)
      await client.cancelQueries({ queryKey })
      client.setQueryData<CachedPages>(queryKey, { pages: [first], pageParams: [null] })
      client.setQueryData<LocalChanges>(changesKey(name, visit), NO_CHANGES)
    },
  }
}
