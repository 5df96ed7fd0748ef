import { queryOptions, skipToken, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { LIVE_RECENT_MS } from '../../../contract/constants.ts'
import { cursorAt, oppositeCursor } from '../../../contract/pages.ts'
import type { PostPage } from '../../../contract/posts.ts'
import { useEntry } from '../../history/entry.tsx'
import type { Anchor } from '../../history/scroll-places.ts'
import { queryClient, worthRetrying } from '../../http/query-client.ts'
import { useHidden } from './hidden.ts'
import {
  type CachedPage,
  type CachedPages,
  cachePage,
  LISTS,
  type ListName,
  type PagesKey,
  PUBLISHED,
  pagesKey,
  setOnlyPage,
} from './list-cache.ts'
import type { NamedNews } from './news-stream.ts'
import { nextVersion, readCachedPost } from './post-cache.ts'

export type ListSource = {
  name: ListName
  /** The cursor at which the list begins if there is no anchor. */
  start?: string
  /** Set for a list by id, newest first, in which newer posts wait for a tap. */
  newer?: Newer
  /** The id of a post that is left out, because the page shows it elsewhere. */
  without?: string | undefined
  /** Whether the list is never read upwards. */
  isOneWay?: boolean
  read: (cursor: string, signal?: AbortSignal) => Promise<PostPage>
}

export type Newer = {
  show: string
  toTop: string
  /** Returns the list's new posts that an event names; null if it cannot name all. */
  namedIn: (event: NamedNews) => readonly NamedPost[] | null
}

export type NamedPost = { id: string; by?: string | undefined }

export type PostListView = ReturnType<typeof usePostList>

const NO_PAGES: readonly CachedPage[] = []
const UNLESS_READING = { cancelRefetch: false }

/** Reads a list of posts page by page, from the page of its anchor. */
export function usePostList(source: ListSource, anchor: Anchor | null) {
  const { name, start = '' } = source
  const queryKey = pagesKey(name, useEntry().key)
  const query = usePageQuery(source, queryKey, anchor)
  const { pages: read = NO_PAGES } = query.data ?? {}
  const { total = 0, above = 0, stop } = read[0] ?? {}
  const isFromTop = start === '' && above === 0
  const isShown = useIsShown(source.without)
  const own = usePublished(name)
  const pages = useMemo(
    () => shownPages(read, isFromTop ? own : [], isShown),
    [read, own, isFromTop, isShown],
  )
  const ids = useMemo(() => pages.flatMap((page) => page.ids), [pages])
  const published = pages[0]?.key === PUBLISHED ? pages[0].ids : []

  return {
    pages,
    ids,
    /** Posts published in this tab, above all that were read. */
    published,
    /** The first post below the newer posts that were added. */
    stoppedAt: useMemo(() => stoppedAt(stop, ids), [stop, ids]),
    above,
    isFromTop,
    /** Returns whether a post is newer than all read ones, and not published in this tab. */
    isNew: ({ id, by }: NamedPost) =>
      isFromTop && isAboveRead(read, id) && !published.includes(id) && isShown(id, by),
    /** The number of posts that were read and are left out, because the viewer hides the author. */
    muted: useMutedCount(read),
    isReady: query.data !== undefined,
    isLoading: query.isPending || query.isFetchingNextPage,
    hasFailed: query.data ? query.isFetchNextPageError : query.isError,
    hasFailedAbove: above > 0 && query.isFetchPreviousPageError,
    error: query.error,
    nextCursor: read.at(-1)?.nextCursor ?? null,
    /** The total of the first page. It never changes: every post states it for screen readers. */
    total: total + published.length,
    /** Returns where the list should begin on a return to a post. */
    placeOf: (postId: string) => {
      const page = read.find((it) => it.ids.includes(postId))
      const shown = pages.find((it) => it.ids.includes(postId))
      return {
        cursor: page ? cursorToReread(source, page) : start,
        above: shown?.above ?? 0,
        total,
      }
    },
    ...readingOf(source, queryKey, query),
  }
}

function useIsShown(without?: string): (id: string, by?: string) => boolean {
  const { authors } = useHidden()
  return useCallback(
    (id, by = '') => {
      const post = readCachedPost(id)
      return post !== null && id !== without && !authors.includes(post?.owner.id ?? by)
    },
    [authors, without],
  )
}

function useMutedCount(pages: readonly CachedPage[]): number {
  const { authors } = useHidden()
  const isMuted = (id: string) => authors.includes(readCachedPost(id)?.owner.id ?? '')
  return authors.length === 0 ? 0 : pages.flatMap(({ ids }) => ids).filter(isMuted).length
}

function usePublished(name: ListName): readonly string[] | undefined {
  const queryKey = pagesKey(name, PUBLISHED)
  return useQuery<CachedPages>({ queryKey, queryFn: skipToken }).data?.pages[0]?.ids
}

type PageQuery = ReturnType<typeof usePageQuery>

function usePageQuery(source: ListSource, queryKey: PagesKey, anchor: Anchor | null) {
  const { start = '', isOneWay = false } = source
  return useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam: cursor, direction, signal }) => {
      const { pages, pageParams } = queryClient.getQueryData<CachedPages>(queryKey) ?? {}
      const top = pages?.[0]
      const read = (from: string) => readPage(source, from, signal)
      // First: a list begins where its reader has left it.
      if (!top) return withPlace(await readFirst(source, cursor, signal), anchor, start)
      // Above: newer posts, or posts above the place at which the list began.
      if (direction === 'backward') return pageAbove(top, { cursor, start }, await read(cursor))
      // Again: a refetch begins with the top page.
      if (cursor === pageParams?.[0]) {
        return withPlace(await read(cursorToReread(source, top)), top, start)
      }
      // Below: the next page, or one that a refetch reads again.
      return read(cursor)
    },
    initialPageParam: anchor?.cursor ?? start,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    getPreviousPageParam: isOneWay ? () => undefined : cursorAbove,
    refetchOnReconnect: true,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** Adds to the top page of a list what is above it, unless the list begins with this page. */
function withPlace(
  page: CachedPage,
  place: Pick<CachedPage, 'above' | 'total' | 'stop'> | null,
  start: string,
): CachedPage {
  if (!place || page.cursor === start) return page
  return { ...page, above: place.above, total: place.total, stop: place.stop }
}

/** Reads the first page of a list that will probably be opened soon. Fails silently. */
export function readListAhead(source: ListSource): void {
  void queryClient.prefetchQuery({ ...aheadQuery(source), retry: false })
}

/** A page that was read ahead. News of the time since then reaches the list (onNews). */
function aheadQuery(source: ListSource, cursor = source.start ?? '') {
  return queryOptions({
    queryKey: [LISTS, source.name, cursor, 'ahead'] as const,
    queryFn: ({ signal }) => readPage(source, cursor, signal),
    staleTime: LIVE_RECENT_MS,
    gcTime: LIVE_RECENT_MS,
  })
}

/** Returns the page that was read ahead, or is being read, once. Otherwise reads it. */
async function readFirst(source: ListSource, cursor: string, signal: AbortSignal) {
  const ahead = aheadQuery(source, cursor)
  const { queryKey } = ahead
  if (!queryClient.getQueryState(queryKey)) return readPage(source, cursor, signal)
  const page = await queryClient.fetchQuery({ ...ahead, retry: false })
  queryClient.removeQueries({ queryKey, exact: true })
  return page
}

/** Reads one page of a list, and puts its posts into the cache. Throws CallError. */
export async function readPage(source: ListSource, cursor = '', signal?: AbortSignal) {
  const version = nextVersion()
  return cachePage(cursor, await source.read(cursor, signal), version)
}

/** Returns the cursor to read a page again, without newer posts if these wait for a tap. */
function cursorToReread({ newer }: ListSource, page: CachedPage): string {
  return newer ? beginningOf(page) : page.cursor
}

async function readLikesOf(
  source: ListSource,
  queryKey: PagesKey,
  page: CachedPage,
): Promise<void> {
  const [lists, name, entryKey] = queryKey
  const read = queryClient.fetchQuery({
    queryKey: [lists, name, entryKey, 'likes', keyOf(page)],
    queryFn: ({ signal }) => readPage(source, cursorToReread(source, page), signal),
    staleTime: 0,
    gcTime: 0,
    retry: worthRetrying,
  })
  // After a failure the page asks again when it comes near the next time.
  if (!(await read.then(Boolean, () => false))) return
  const current = (it: CachedPage) =>
    keyOf(it) === keyOf(page) ? { ...it, isOutdated: false } : it
  queryClient.setQueryData<CachedPages>(
    queryKey,
    (list) => list && { ...list, pages: list.pages.map(current) },
  )
}

function readingOf(source: ListSource, queryKey: PagesKey, query: PageQuery) {
  const first = query.data?.pages[0]
  // A page may have arrived since this render. Each read renders again when it ends.
  const canReadAbove = !query.isFetching && !query.isFetchPreviousPageError
  const canReadMore = !query.isFetching && !query.isFetchNextPageError

  /** Replaces the list by its first page. If that fails, throws CallError and changes nothing. */
  async function restart(): Promise<void> {
    const page = await readPage(source, source.start)
    await queryClient.cancelQueries({ queryKey })
    setOnlyPage(queryKey, { ...page, stop: first?.stop })
  }

  return {
    loadAbove: (): void => {
      const hasAbove = !!first?.above && query.hasPreviousPage
      if (hasAbove && canReadAbove) void query.fetchPreviousPage(UNLESS_READING)
    },
    loadMore: (): void => {
      if (query.hasNextPage && canReadMore) void query.fetchNextPage(UNLESS_READING)
    },
    /** Reads the next page again, which is the first one if there is none. */
    retry: () => void query.fetchNextPage(),
    retryAbove: () => query.fetchPreviousPage(),
    restart,
    /** Reads the likes of an outdated page for the viewer. The page keeps its posts. */
    readLikes: (key: string): void => {
      const page = query.data?.pages.find((it) => keyOf(it) === key)
      if (page) void readLikesOf(source, queryKey, page)
    },
    /** Adds newer posts above the list. Returns false if there are none. Throws CallError. */
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

/**
 * Returns the page above `below`, made from an answer read upwards at `cursor`. `start` is the
 * beginning of the list.
 */
export function pageAbove(
  below: CachedPage,
  { cursor, start }: { cursor: string; start: string },
  { ids, nextCursor, total }: Pick<CachedPage, 'ids' | 'nextCursor' | 'total'>,
): CachedPage {
  const end = oppositeCursor(cursor)
  const isEmpty = ids.length === 0
  const wasTop = below.above === 0
  const page = {
    ids: [...ids].reverse(),
    nextCursor: end,
    total,
    stop: wasTop && !isEmpty ? end : below.stop,
  }
  if (nextCursor === null) return { ...page, cursor: isEmpty ? end : start, above: 0 }
  const added = total - below.total
  const above = Math.max(1, below.above + added - ids.length)
  return { ...page, cursor: oppositeCursor(nextCursor), above }
}

/** Returns the cursor at which a page of a list by id begins; '' if the list is empty. */
export function beginningOf({ cursor, ids: [first], nextCursor }: CachedPage): string {
  if (cursor !== '') return cursor
  return first === undefined ? (nextCursor ?? '') : cursorAt(first)
}

/** Returns the cursor to read upwards from a page of a list by id; undefined if it is empty. */
export function cursorAbove(page: CachedPage): string | undefined {
  const beginning = beginningOf(page)
  return beginning === '' ? undefined : oppositeCursor(beginning)
}

/** Returns whether a post is newer than all posts that were read. */
export function isAboveRead(pages: readonly CachedPage[], id: string): boolean {
  const top = pages.find(({ ids }) => ids.length > 0)?.ids[0]
  return top === undefined || BigInt(id) > BigInt(top)
}

/** Returns the first post below the newer posts that were added; undefined if none were. */
export function stoppedAt(stop: string | undefined, ids: readonly string[]): string | undefined {
  const at = stop === undefined ? 0 : ids.findIndex((id) => BigInt(id) < BigInt(stop))
  return at > 0 ? ids[at] : undefined
}

function keyOf({ nextCursor }: CachedPage): string {
  return nextCursor ?? 'end'
}

/**
 * Returns the pages that have posts to show. Posts published in this tab come first, until they are
 * among the posts that were read. A page without hidden posts keeps its array, so that its cards
 * are not rendered again.
 */
export function shownPages(
  pages: readonly CachedPage[],
  published: readonly string[] = [],
  isShown: (id: string) => boolean = () => true,
) {
  let above = pages[0]?.above ?? 0
  const place = (key: string, all: readonly string[], isOutdated = false) => {
    const ids = all.every(isShown) ? all : all.filter(isShown)
    const page = { key, ids, above, ...(isOutdated && { isOutdated }) }
    above += ids.length
    return page
  }
  const own = published.filter((id) => isAboveRead(pages, id))
  const first = place(PUBLISHED, own)
  const read = pages.map((page) => place(keyOf(page), page.ids, page.isOutdated))
  return [first, ...read].filter(({ ids }) => ids.length > 0)
}
