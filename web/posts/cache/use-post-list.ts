import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLocation } from 'react-router'
import { PAGE_SIZE } from '../../../contract/constants.ts'
import type { PostPage } from '../../../contract/posts.ts'
import { findAnchor } from '../../browser/scroll-anchors.ts'
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

/** Where a list comes from: `read` returns the page after `cursor`, or the first one for null. */
export type ListSource = {
  name: ListName
  /** Where the list begins; null, which is the default, for its first page. */
  start?: string | null
  read: (cursor: string | null, signal?: AbortSignal) => Promise<PostPage>
}

export type PostListView = {
  ids: readonly string[]
  /** The same ids in groups that stay the same as the list grows. */
  groups: readonly (readonly string[])[]
  /** Whether a newer first page, as ids, has posts published elsewhere since the list was read. */
  hasNewer: (firstPage: readonly string[]) => boolean
  state: 'loading' | 'failed' | 'ready'
  error: Error | null
  /** After which cursor the list begins; null for its first page. A list that was left begins at the page of its place. */
  start: string | null
  /** The cursors of the pages from the beginning to that which holds a post; empty where none does. */
  cursorsTo: (postId: string) => (string | null)[]
  hasMore: boolean
  /** The cursor of the next page; null after the last. */
  nextCursor: string | null
  /** The length of the whole list when its first page was read. It stays the same as more is read: every post states it. */
  total: number
  /** How many posts stand above those of the list; null where its beginning is not known. */
  before: number | null
  more: 'idle' | 'loading' | 'failed'
  /** Whether any of its pages is being read: then no other is. */
  isFetching: boolean
  /** Reads the page before the first one of a list that does not begin at its beginning, if its cursor is known. */
  loadPrevious: () => void
  /** Reads the next page; does nothing while one is being read or after the last. */
  loadMore: () => void
  /** Tries again what failed: the first page or the next one. */
  retry: () => void
  /** Replaces everything that was read with a newer first page. Throws CallError and changes nothing when that fails. */
  refresh: () => Promise<void>
}

/** The parameter of the first page when it is read after later ones: null would say that there is none. */
const BEGINNING = ''
/** A list that began to be read anew since the last render goes on with that. */
const AFTER_REFETCH = { cancelRefetch: false }
const LIFETIME = { gcTime: LIST_LIFETIME_MS, staleTime: Number.POSITIVE_INFINITY }

/** A list of posts, page by page, as the person left it when they visited the page before. */
export function usePostList({ name, start = null, read }: ListSource): PostListView {
  const client = useQueryClient()
  const entryKey = useLocation().key
  const queryKey = pagesKey(name, entryKey)
  // The cursors from the beginning to the page where a visit was left: posts below it are read on, those above on demand.
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
      // Posts were published meanwhile, so that this page no longer joins the next one: «К началу» leads to them.
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
  /** After which cursor the list begins; null for its beginning, where what is published here belongs. */
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

/** The cursor before another one; undefined before the first, as TanStack Query expects it. */
function previousOf(
  cursors: readonly (string | null)[],
  cursor: string | null,
): string | undefined {
  const at = cursors.indexOf(cursor)
  return at > 0 ? (cursors[at - 1] ?? BEGINNING) : undefined
}
