import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { PAGE_SIZE } from '../../../contract/constants.ts'
import type { PostPage } from '../../../contract/posts.ts'
import { useEntry } from '../../history/entry.tsx'
import type { Anchor } from '../../history/scroll-anchors.ts'
import { useHidden } from '../../session/hidden.ts'
import {
  type CachedPage,
  type CachedPages,
  changesKey,
  hasNewer,
  LIST_LIFETIME_MS,
  type ListName,
  type ListPage,
  type LocalChanges,
  NO_CHANGES,
  pagesKey,
  shownPages,
  withoutAuthors,
} from './list-cache.ts'
import { nextVersion, putPosts } from './post-cache.ts'

export type ListSource = {
  name: ListName
  /** The cursor at which the list begins where nobody has left it further down. */
  start?: string
  read: (cursor: string, signal?: AbortSignal) => Promise<PostPage>
}

export type PostListView = ReturnType<typeof usePostList>

/** A list that began to be read anew since the last render goes on with that read. */
const AFTER_REFETCH = { cancelRefetch: false }
const LIFETIME = { gcTime: LIST_LIFETIME_MS, staleTime: Number.POSITIVE_INFINITY }

/** A list of posts, page by page. It begins at the page of its anchor. */
export function usePostList(source: ListSource, anchor: Anchor | undefined) {
  const { name, start: opened = '', read } = source
  const client = useQueryClient()
  const entryKey = useEntry().key
  const queryKey = pagesKey(name, entryKey)
  const cursors = anchor?.cursors.length ? anchor.cursors : [opened]
  const initial = cursors.at(-1) ?? ''

  async function readPage(cursor: string, signal?: AbortSignal): Promise<CachedPage> {
    const version = nextVersion()
    const { posts, nextCursor, total } = await read(cursor, signal)
    return { cursor, ids: putPosts(client, posts, version), nextCursor, total }
  }

  const query = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const below = client.getQueryData<CachedPages>(queryKey)?.pageParams[0]
      const page = await readPage(pageParam, signal)
      const joins = pageParam !== '' || !below || below === page.nextCursor
      // Posts were published since the page below was read.
      if (!joins) throw new Error('The pages do not join')
      return page
    },
    initialPageParam: initial,
    getNextPageParam: (last) => last.nextCursor,
    getPreviousPageParam: ({ cursor }) => cursors[cursors.indexOf(cursor) - 1],
    refetchOnReconnect: ({ state }) => state.data === undefined || state.isInvalidated,
    ...LIFETIME,
  })
  const { data: changes = NO_CHANGES } = useQuery<LocalChanges>({
    queryKey: changesKey(name, entryKey),
    queryFn: skipToken,
    ...LIFETIME,
  })
  const readPages = query.data?.pages
  const list = useMemo(() => {
    const unread: ListPage[] = [{ cursor: initial, ids: [] }]
    return { pages: readPages ?? unread, ...changes }
  }, [readPages, initial, changes])
  const { authors } = useHidden()
  const pages = useMemo(
    () => shownPages(withoutAuthors(client, list, authors)),
    [client, list, authors],
  )
  const ids = useMemo(() => pages.flatMap((page) => page.ids), [pages])
  const start = list.pages[0]?.cursor ?? ''
  const above = cursors.slice(0, Math.max(0, cursors.indexOf(start)))

  return {
    pages,
    ids,
    hasNewer: (firstPage: readonly string[]) => hasNewer(list, firstPage),
    state: query.isPending ? 'loading' : readPages ? 'ready' : 'failed',
    error: query.error,
    /** The cursor of the first page that is read. */
    start,
    /** The cursors of the pages above it, as far as they are known. */
    above,
    /** Returns the cursors of the pages from `start` to the one that has the post. */
    cursorsTo: (postId: string): string[] => {
      const at = list.pages.findIndex((page) => page.ids.includes(postId))
      return list.pages.slice(0, at + 1).map(({ cursor }) => cursor)
    },
    /** Null at the end of the list. */
    nextCursor: readPages?.at(-1)?.nextCursor ?? null,
    /** Every post states the length of the list, so it stays as the first page told it. */
    total: readPages?.[0]?.total ?? 0,
    /** How many posts stand above the list's; null while its beginning is not known. */
    before: (above[0] ?? start) === '' ? above.length * PAGE_SIZE : null,
    more: query.isFetchingNextPage ? 'loading' : query.isFetchNextPageError ? 'failed' : 'idle',
    isFetching: query.isFetching,
    loadPrevious: (): void => {
      const mayRead = query.hasPreviousPage && !query.isFetching && !query.isFetchPreviousPageError
      if (mayRead) void query.fetchPreviousPage(AFTER_REFETCH)
    },
    loadMore: (): void => {
      const mayRead = query.hasNextPage && !query.isFetching && !query.isFetchNextPageError
      if (mayRead) void query.fetchNextPage(AFTER_REFETCH)
    },
    retry: () => void (readPages ? query.fetchNextPage() : query.refetch()),
    /** Reads a newer first page in place of all others. Throws CallError and changes nothing. */
    refresh: async (): Promise<void> => {
      const first = await readPage('')
      await client.cancelQueries({ queryKey })
      client.setQueryData<CachedPages>(queryKey, { pages: [first], pageParams: [''] })
      client.setQueryData<LocalChanges>(changesKey(name, entryKey), NO_CHANGES)
    },
  } as const
}
