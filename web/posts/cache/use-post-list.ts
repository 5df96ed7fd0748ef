import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { PostPage } from '../../../contract/posts.ts'
import { useEntry } from '../../history/entry.tsx'
import type { Anchor } from '../../history/scroll-anchors.ts'
import { queryClient } from '../../http/query-client.ts'
import { useHidden } from './hidden.ts'
import {
  beginningOf,
  type CachedPage,
  type CachedPages,
  cachePage,
  cursorAbove,
  isAboveRead,
  isShown,
  LIST_LIFETIME_MS,
  type ListName,
  PUBLISHED,
  pageAbove,
  pagesKey,
  shownPages,
  stoppedAt,
} from './list-cache.ts'
import type { NamedNews } from './news-stream.ts'
import { nextVersion } from './post-cache.ts'

export type ListSource = {
  name: ListName
  /** The cursor at which the list begins if there is no anchor. */
  start?: string
  /** Set for a list by id, newest first, in which newer posts wait for a tap. */
  newer?: Newer | undefined
  /** Whether the list is never read upwards. */
  isOneWay?: boolean
  read: (cursor: string, signal?: AbortSignal) => Promise<PostPage>
}

/** The list of replies if the server answers with 404. */
export const NO_POSTS: PostPage = {
  posts: [],
  firstPage: 1,
  lastPage: 1,
  total: 0,
  nextCursor: null,
}

export type Newer = {
  show: string
  toTop: string
  /** Returns the list's new posts that an event names; null if it cannot name all. */
  namedIn: (event: NamedNews) => readonly NamedPost[] | null
}

export type NamedPost = { id: string; by: string | undefined }

export type PostListView = ReturnType<typeof usePostList>

const LIFETIME = { gcTime: LIST_LIFETIME_MS, staleTime: Number.POSITIVE_INFINITY }
const NO_PAGES: readonly CachedPage[] = []
/** Does nothing while the list is read. */
const UNLESS_READING = { cancelRefetch: false }

/** A list of posts, page by page. It begins at the page of its anchor. */
export function usePostList(source: ListSource, anchor: Anchor | undefined) {
  const { name, start = '' } = source
  const query = usePageQuery(source, anchor)
  const { pages: read = NO_PAGES } = query.data ?? {}
  const { total = 0, above = 0 } = read[0] ?? {}
  const isFromTop = start === '' && above === 0
  const pages = useShownPages(name, read, isFromTop)
  const ids = useMemo(() => pages.flatMap((page) => page.ids), [pages])
  const published = pages[0]?.key === PUBLISHED ? pages[0].ids : []

  return {
    pages,
    ids,
    /** Posts published in this tab, above all that were read. */
    published,
    /** The first post that was read. */
    readId: ids[published.length],
    /** The first post below the newer posts that were added. */
    stoppedAt: useMemo(() => stoppedAt(read, ids), [read, ids]),
    /** The number of posts above those that were read. */
    above,
    isFromTop,
    /** Whether a post is newer than all that were read, and not published in this tab. */
    isNew: (id: string) => isFromTop && isAboveRead(read, id) && !published.includes(id),
    state: query.isPending ? 'loading' : query.data ? 'ready' : 'failed',
    error: query.error,
    /** Null at the end of the list. */
    nextCursor: read.at(-1)?.nextCursor ?? null,
    /** Stays that of the first page, because every post states it for screen readers. */
    total: total + published.length,
    /** Returns where the list should begin on a return to a post. */
    placeOf: (postId: string) => {
      const page = read.find((it) => it.ids.includes(postId))
      const shown = pages.find((it) => it.ids.includes(postId))
      return { cursor: page ? firstCursor(source, page) : start, above: shown?.above ?? 0, total }
    },
    more: query.isFetchingNextPage ? 'loading' : query.isFetchNextPageError ? 'failed' : 'idle',
    ...useReading(source, query),
  } as const
}

type PageQuery = ReturnType<typeof usePageQuery>

function usePageQuery(source: ListSource, anchor: Anchor | undefined) {
  const { start = '', isOneWay = false } = source
  const queryKey = useListKey(source)

  async function readFirst(cursor: string, signal: AbortSignal, former?: CachedPage) {
    const from = former ? firstCursor(source, former) : cursor
    const page = await readPage(source, { cursor: from, signal })
    const { above, total, stop } = { stop: undefined, ...(former ?? anchor ?? page) }
    return page.cursor === start ? page : { ...page, above, total, stop }
  }

  return useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam: cursor, direction, signal }) => {
      const { pages, pageParams } = queryClient.getQueryData<CachedPages>(queryKey) ?? {}
      const first = pages?.[0]
      if (!first || (direction === 'forward' && cursor === pageParams?.[0])) {
        return readFirst(cursor, signal, first)
      }
      const page = await readPage(source, { cursor, signal })
      return direction === 'forward' ? page : pageAbove(first, { cursor, start }, page)
    },
    initialPageParam: anchor?.cursor ?? start,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    getPreviousPageParam: isOneWay ? () => undefined : cursorAbove,
    refetchOnReconnect: ({ state }) => state.data === undefined || state.isInvalidated,
    ...LIFETIME,
  })
}

function useListKey({ name }: ListSource) {
  return pagesKey(name, useEntry().key)
}

type Read = { cursor: string; signal?: AbortSignal }

async function readPage(source: ListSource, { cursor, signal }: Read) {
  const version = nextVersion()
  return cachePage(queryClient, cursor, await source.read(cursor, signal), version)
}

/** Keeps newer posts waiting for a tap when the list is read again. */
function firstCursor({ newer }: ListSource, page: CachedPage): string {
  return newer ? beginningOf(page) : page.cursor
}

/** Returns functions that read more pages of a list. */
function useReading(source: ListSource, query: PageQuery) {
  const { start = '' } = source
  const queryKey = useListKey(source)
  const first = query.data?.pages[0]

  /** Replaces the list by its first page. If that fails, throws CallError and changes nothing. */
  async function restart(): Promise<void> {
    const page = await readPage(source, { cursor: start })
    await queryClient.cancelQueries({ queryKey })
    const pages = [{ ...page, stop: first?.stop }]
    queryClient.setQueryData<CachedPages>(queryKey, { pages, pageParams: [start] })
  }

  return {
    loadAbove: (): void => {
      const hasAbove = !!first?.above && query.hasPreviousPage && !query.isFetchPreviousPageError
      if (hasAbove) void query.fetchPreviousPage(UNLESS_READING)
    },
    loadMore: (): void => {
      const hasMore = query.hasNextPage && !query.isFetchNextPageError
      if (hasMore) void query.fetchNextPage(UNLESS_READING)
    },
    retry: () => void (query.data ? query.fetchNextPage() : query.refetch()),
    restart,
    /**
     * Adds the next newer posts above the list. Returns false if there are none. If the read fails,
     * throws CallError and changes nothing.
     */
    showNewer: async (): Promise<boolean> => {
      // Waits for a refetch in flight, which fetchPreviousPage() would cancel.
      const reading = queryClient.getQueryCache().find({ queryKey })?.promise
      await reading?.catch(() => {})
      if (!query.hasPreviousPage) return restart().then(() => true)
      const { data } = await query.fetchPreviousPage({ throwOnError: true })
      return (data?.pages[0]?.ids.length ?? 0) > 0
    },
  }
}

function useShownPages(name: ListName, pages: readonly CachedPage[], isFromTop: boolean) {
  const client = useQueryClient()
  const { authors } = useHidden()
  const queryKey = pagesKey(name, PUBLISHED)
  const { data } = useQuery<CachedPages>({ queryKey, queryFn: skipToken, ...LIFETIME })
  const published = isFromTop ? data?.pages[0]?.ids : undefined
  return useMemo(
    () => shownPages(pages, published, (id) => isShown(client, id, authors)),
    [client, pages, published, authors],
  )
}
