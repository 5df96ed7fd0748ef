import {
  type QueryClient,
  skipToken,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useMemo } from 'react'
import type { PostPage } from '../../../contract/posts.ts'
import { useEntry } from '../../history/entry.tsx'
import type { Anchor } from '../../history/scroll-anchors.ts'
import { hidden, useHidden } from './hidden.ts'
import {
  beginningOf,
  type CachedPage,
  type CachedPages,
  cursorAbove,
  isAboveRead,
  isShown,
  LIST_LIFETIME_MS,
  type ListName,
  PUBLISHED,
  pageAbove,
  pagesKey,
  publishedKey,
  shownPages,
  stopKey,
} from './list-cache.ts'
import type { NamedNews } from './news-stream.ts'
import { nextVersion, putPosts } from './post-cache.ts'

export type ListSource = {
  name: ListName
  /** The cursor at which the list begins where nobody has left it further down. */
  start?: string
  /** Set for a list by id from its newest post on, in which newer ones wait for a tap. */
  newer?: Newer | undefined
  /** Whether the list is never read upwards. */
  isOneWay?: boolean
  read: (cursor: string, signal?: AbortSignal) => Promise<PostPage>
}

/** Replies that are answered with 404 are an empty list. */
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
  /** The list's new posts that an event names; null where it cannot name all. */
  namedIn: (event: NamedNews) => readonly NamedPost[] | null
}

export type NamedPost = { id: string; by: string | undefined }

export type PostListView = ReturnType<typeof usePostList>

/** A list that began to be read anew since the last render goes on with that read. */
const AFTER_REFETCH = { cancelRefetch: false }
type PageContext = { pageParam: string; direction: 'forward' | 'backward'; signal: AbortSignal }

const LIFETIME = { gcTime: LIST_LIFETIME_MS, staleTime: Number.POSITIVE_INFINITY }
const NO_PAGES: readonly CachedPage[] = []

function useCached<Data>(queryKey: readonly unknown[]): Data | undefined {
  return useQuery<Data>({ queryKey, queryFn: skipToken, ...LIFETIME }).data
}

/** Reads the pages of a list into the cache. */
function createReader(
  client: QueryClient,
  { name, start = '', read, newer }: ListSource,
  { entryKey, anchor }: { entryKey: string; anchor: Anchor | undefined },
) {
  const queryKey = pagesKey(name, entryKey)

  async function readPage(cursor: string, signal?: AbortSignal): Promise<CachedPage> {
    const version = nextVersion()
    const { posts, nextCursor, total } = await read(cursor, signal)
    return { cursor, ids: putPosts(client, posts, version), nextCursor, total, above: 0 }
  }

  /** Newer posts wait for a tap, also when the list is read again. */
  const beginning = (page: CachedPage) => (newer ? beginningOf(page) : page.cursor)

  async function readFirst(cursor: string, signal: AbortSignal, former?: CachedPage) {
    const page = await readPage(former ? beginning(former) : cursor, signal)
    const { above, total } = former ?? anchor ?? page
    return page.cursor === start ? page : { ...page, above, total }
  }

  /** Newer posts that come above the first page stop above the post that was the first. */
  function setStop(pages: readonly CachedPage[]): void {
    const firstId = pages
      .flatMap(({ ids }) => ids)
      .find((id) => isShown(client, id, hidden.get().authors))
    client.setQueryData(stopKey(name, entryKey), firstId)
  }

  return {
    beginning,
    queryFn: async ({ pageParam: cursor, direction, signal }: PageContext) => {
      const { pages = [], pageParams } = client.getQueryData<CachedPages>(queryKey) ?? {}
      const [first] = pages
      if (!first || direction === 'forward') {
        const isFirst = !first || cursor === pageParams?.[0]
        return isFirst ? readFirst(cursor, signal, first) : readPage(cursor, signal)
      }
      const page = await readPage(cursor, signal)
      if (first.above === 0 && page.ids.length > 0) setStop(pages)
      return pageAbove(first, { cursor, start }, page)
    },
    /** Reads the first page in place of what was read. Throws CallError and changes nothing. */
    restart: async (): Promise<void> => {
      const page = await readPage(start)
      await client.cancelQueries({ queryKey })
      client.setQueryData<CachedPages>(queryKey, { pages: [page], pageParams: [start] })
    },
  }
}

/** A list of posts, page by page. It begins at the page of its anchor. */
export function usePostList(source: ListSource, anchor: Anchor | undefined) {
  const { name, start = '', isOneWay = false } = source
  const client = useQueryClient()
  const entryKey = useEntry().key
  const queryKey = pagesKey(name, entryKey)
  const { queryFn, beginning, restart } = createReader(client, source, { entryKey, anchor })
  const query = useInfiniteQuery({
    queryKey,
    queryFn,
    initialPageParam: anchor?.cursor ?? start,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    getPreviousPageParam: cursorAbove,
    refetchOnReconnect: ({ state }) => state.data === undefined || state.isInvalidated,
    ...LIFETIME,
  })
  const { pages: readPages = NO_PAGES } = query.data ?? {}
  const { total = 0, above = 0 } = readPages[0] ?? {}
  const isFromTop = start === '' && above === 0
  const pages = useShownPages(name, readPages, isFromTop)
  const ids = useMemo(() => pages.flatMap((page) => page.ids), [pages])
  const mayRead = !query.isFetching
  return {
    pages,
    ids,
    /** The first post that was read, below those that were published here. */
    readId: pages.find(({ key }) => key !== PUBLISHED)?.ids[0],
    /** The post above which newer ones were put. */
    stoppedAt: useCached<string>(stopKey(name, entryKey)),
    /** How many posts stand above those that are read. */
    above,
    isFromTop,
    isNew: (id: string) => isFromTop && isAboveRead(readPages, id),
    state: query.isPending ? 'loading' : query.data ? 'ready' : 'failed',
    error: query.error,
    /** Null at the end of the list. */
    nextCursor: readPages.at(-1)?.nextCursor ?? null,
    /** Every post states the length of the list, so it stays as the first page told it. */
    total: total + (pages[0]?.key === PUBLISHED ? pages[0].ids.length : 0),
    /** Where the list is to begin on a return to a post. */
    placeOf: (postId: string) => {
      const page = readPages.find((it) => it.ids.includes(postId))
      const shown = pages.find((it) => it.ids.includes(postId))
      return { cursor: page ? beginning(page) : start, above: shown?.above ?? 0, total }
    },
    more: query.isFetchingNextPage ? 'loading' : query.isFetchNextPageError ? 'failed' : 'idle',
    isFetching: query.isFetching,
    loadAbove: (): void => {
      const hasAbove = above > 0 && !isOneWay && !query.isFetchPreviousPageError
      if (mayRead && hasAbove) void query.fetchPreviousPage(AFTER_REFETCH)
    },
    loadMore: (): void => {
      const hasMore = query.hasNextPage && !query.isFetchNextPageError
      if (mayRead && hasMore) void query.fetchNextPage(AFTER_REFETCH)
    },
    retry: () => void (query.data ? query.fetchNextPage() : query.refetch()),
    restart,
    /**
     * Puts the next newer posts above what was read, and returns whether there are such. Throws
     * CallError and changes nothing.
     */
    showNewer: async (): Promise<boolean> => {
      // A read of the whole list that is in flight is not broken off.
      await client
        .getQueryCache()
        .find({ queryKey })
        ?.promise?.catch(() => {})
      if (!query.hasPreviousPage) return restart().then(() => true)
      const { data } = await query.fetchPreviousPage({ throwOnError: true })
      return (data?.pages[0]?.ids.length ?? 0) > 0
    },
  } as const
}

function useShownPages(name: ListName, pages: readonly CachedPage[], isFromTop: boolean) {
  const client = useQueryClient()
  const { authors } = useHidden()
  const published = useCached<readonly string[]>(publishedKey(name))
  return useMemo(
    () => shownPages(pages, isFromTop ? published : [], (id) => isShown(client, id, authors)),
    [client, pages, published, authors, isFromTop],
  )
}
