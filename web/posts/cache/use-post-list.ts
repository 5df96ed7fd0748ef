import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { PAGE_SIZE } from '../../../contract/constants.ts'
import type { PostPage } from '../../../contract/posts.ts'
import { useEntry } from '../../history/entry.tsx'
import { findAnchor } from '../../history/scroll-anchors.ts'
import {
  type CachedPage,
  type CachedPages,
  changesKey,
  hasNewer,
  LIST_LIFETIME_MS,
  type ListName,
  type LocalChanges,
  listGroups,
  NO_CHANGES,
  pagesKey,
} from './list-cache.ts'
import { nextVersion, putPosts } from './post-cache.ts'

export type ListSource = {
  name: ListName
  start?: string | null
  read: (cursor: string | null, signal?: AbortSignal) => Promise<PostPage>
}

export type PostListView = {
  ids: readonly string[]
  groups: readonly (readonly string[])[]
  hasNewer: (firstPage: readonly string[]) => boolean
  state: 'loading' | 'failed' | 'ready'
  error: Error | null
  /** Null for the first page. A list that was left begins at the page of its anchor. */
  start: string | null
  /** The cursors of the pages from the beginning to the page that has the post. */
  cursorsTo: (postId: string) => (string | null)[]
  hasMore: boolean
  nextCursor: string | null
  /** Every post states the length of the list, so it stays as the first page told it. */
  total: number
  /** How many posts stand above the list's; null while its beginning is not known. */
  before: number | null
  more: 'idle' | 'loading' | 'failed'
  isFetching: boolean
  loadPrevious: () => void
  loadMore: () => void
  retry: () => void
  /** Reads a newer first page in place of all others. Throws CallError and changes nothing. */
  refresh: () => Promise<void>
}

/** Null would mean that there is no page before the one that is shown. */
const BEGINNING = ''
/** A list that began to be read anew since the last render goes on with that read. */
const AFTER_REFETCH = { cancelRefetch: false }
const LIFETIME = { gcTime: LIST_LIFETIME_MS, staleTime: Number.POSITIVE_INFINITY }

/** A list of posts, page by page, as the person left it in this history entry. */
export function usePostList({ name, start = null, read }: ListSource): PostListView {
  const client = useQueryClient()
  const entryKey = useEntry().key
  const queryKey = pagesKey(name, entryKey)
  // The page at which the entry was left is read first, the pages above it on demand.
  const cursors = useMemo(() => {
    const left = findAnchor(entryKey)?.cursors ?? []
    return left.length > 0 ? left : [start]
  }, [entryKey, start])

  async function readPage(cursor: string | null, signal?: AbortSignal): Promise<CachedPage> {
    const version = nextVersion()
    const { posts, nextCursor, total } = await read(cursor, signal)
    return { ids: putPosts(client, posts, version), nextCursor, total }
  }

  const query = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const wasBefore = client.getQueryData<CachedPages>(queryKey)?.pageParams[0]
      const page = await readPage(pageParam || null, signal)
      const isPrevious = pageParam === BEGINNING && wasBefore === cursors[1]
      // Posts were published meanwhile, so that this page no longer joins the next one.
      if (isPrevious && page.nextCursor !== wasBefore) throw new Error('The pages do not join')
      return page
    },
    initialPageParam: cursors.at(-1) ?? null,
    getNextPageParam: (last) => last.nextCursor,
    getPreviousPageParam: (_first, _pages, cursor) => previousOf(cursors, cursor),
    refetchOnReconnect: ({ state }) => state.data === undefined || state.isInvalidated,
    ...LIFETIME,
  })
  const { data: changes = NO_CHANGES } = useQuery<LocalChanges>({
    queryKey: changesKey(name, entryKey),
    queryFn: skipToken,
    ...LIFETIME,
  })
  const pages = query.data?.pages
  const params = (query.data as CachedPages | undefined)?.pageParams ?? []
  /** Null stands for the beginning, to which posts published here are added. */
  const first = (pages ? params[0] : cursors.at(-1)) || null
  const list = useMemo(() => {
    const shown = first === null ? changes : { ...changes, added: NO_CHANGES.added }
    return { pages: pages?.map((page) => page.ids) ?? [], ...shown }
  }, [pages, changes, first])
  const above = cursors.indexOf(first)
  const groups = useMemo(() => listGroups(list), [list])
  const ids = useMemo(() => groups.flat(), [groups])

  return {
    ids,
    groups,
    hasNewer: (firstPage) => hasNewer(list, firstPage),
    state: query.isPending ? 'loading' : pages ? 'ready' : 'failed',
    error: query.error,
    start: params[0] || null,
    cursorsTo: (postId) => {
      const page = pages?.findIndex((it) => it.ids.includes(postId)) ?? -1
      if (page < 0) return []
      const before = cursors.slice(0, Math.max(0, cursors.indexOf(params[0] || null)))
      return [...before, ...params.slice(0, page + 1).map((cursor) => cursor || null)]
    },
    hasMore: query.hasNextPage,
    nextCursor: pages?.at(-1)?.nextCursor ?? null,
    total: pages?.[0]?.total ?? 0,
    before: cursors[0] === null && above >= 0 ? above * PAGE_SIZE : null,
    more: query.isFetchingNextPage ? 'loading' : query.isFetchNextPageError ? 'failed' : 'idle',
    isFetching: query.isFetching,
    loadPrevious: () => {
      const mayRead = query.hasPreviousPage && !query.isFetching && !query.isFetchPreviousPageError
      if (mayRead) void query.fetchPreviousPage(AFTER_REFETCH)
    },
    loadMore: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage(AFTER_REFETCH)
    },
    retry: () => void (pages ? query.fetchNextPage() : query.refetch()),
    refresh: async () => {
      const first = await readPage(null)
      await client.cancelQueries({ queryKey })
      client.setQueryData<CachedPages>(queryKey, { pages: [first], pageParams: [null] })
      client.setQueryData<LocalChanges>(changesKey(name, entryKey), NO_CHANGES)
    },
  }
}

/** TanStack Query expects undefined before the first page. */
function previousOf(
  cursors: readonly (string | null)[],
  cursor: string | null,
): string | undefined {
  const at = cursors.indexOf(cursor)
  return at > 0 ? (cursors[at - 1] ?? BEGINNING) : undefined
}
