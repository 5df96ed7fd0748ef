import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { cursorAt } from '../../../contract/pages.ts'
import type { PostPage } from '../../../contract/posts.ts'
import { useEntry } from '../../history/entry.tsx'
import type { Anchor } from '../../history/scroll-anchors.ts'
import { useHidden } from '../../session/hidden.ts'
import type { News } from '../../session/news-stream.ts'
import {
  type CachedPage,
  type CachedPages,
  changesKey,
  fillGap,
  hasNewer,
  joinPage,
  LIST_LIFETIME_MS,
  type ListName,
  type ListPage,
  type LocalChanges,
  NO_CHANGES,
  pagesKey,
  placePages,
  showNewer,
  shownPages,
  withoutAuthors,
} from './list-cache.ts'
import { nextVersion, putPosts } from './post-cache.ts'

export type ListSource = {
  name: ListName
  /** The cursor at which the list begins where nobody has left it further down. */
  start?: string
  /** Set for a list from its newest post on, in which newer ones wait until they are asked for. */
  newer?: Newer | undefined
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
  namedIn: (event: News) => readonly NamedPost[] | null
}

type NamedPost = { id: string; by: string | undefined }

export type PostListView = ReturnType<typeof usePostList>

/** A list that began to be read anew since the last render goes on with that read. */
const AFTER_REFETCH = { cancelRefetch: false }
const LIFETIME = { gcTime: LIST_LIFETIME_MS, staleTime: Number.POSITIVE_INFINITY }

/** A list of posts, page by page. It begins at the page of its anchor. */
export function usePostList(source: ListSource, anchor: Anchor | undefined) {
  const { name, start: opened = '', read, newer } = source
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

  const knownPages = () => client.getQueryData<CachedPages>(queryKey)?.pages ?? []
  const pageBelow = (cursor: string) => {
    const pages = knownPages()
    return pages[pages.findIndex((page) => page.cursor === cursor) + 1]
  }

  /** A page that was read before begins and ends where it did: newer posts wait for a tap. */
  async function readAsBefore(cursor: string, signal: AbortSignal): Promise<CachedPage> {
    const known = knownPages().find((page) => page.cursor === cursor)
    const former = cursor === '' && !known ? anchor?.first : undefined
    const firstId = cursor === '' ? (known?.ids[0] ?? former?.id) : undefined
    const from = firstId === undefined ? cursor : cursorAt(firstId)
    const page = { ...(await readPage(from, signal)), cursor }
    const hasBelow = known || (cursor !== initial && cursors.includes(cursor))
    const below = hasBelow && pageBelow(cursor)
    const missing = page.ids.length + (known?.gap?.size ?? 0)
    return {
      ...(below ? joinPage(page, below, missing) : page),
      total: (known ?? former ?? page).total,
    }
  }

  const query = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      if (newer) return readAsBefore(pageParam, signal)
      const below = knownPages()[0]?.cursor
      const page = await readPage(pageParam, signal)
      const joins = pageParam !== '' || !below || below === page.nextCursor
      // The list has grown since the page below was read.
      if (!joins) throw new Error('The pages do not join')
      return page
    },
    initialPageParam: initial,
    getNextPageParam: ({ cursor, nextCursor, gap }) =>
      gap ? pageBelow(cursor)?.cursor : nextCursor,
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
  const start = list.pages[0]?.cursor ?? ''
  const formerAbove = anchor?.above ?? Number.NaN
  const pages = useMemo(() => {
    const shown = shownPages(withoutAuthors(client, list, authors))
    const isWhole = start === ''
    const cursor = isWhole ? (shown[0]?.cursor ?? '') : initial
    return placePages(shown, { cursor, above: isWhole ? 0 : formerAbove })
  }, [client, list, authors, start, initial, formerAbove])
  const ids = useMemo(() => pages.flatMap((page) => page.ids), [pages])
  // What was published here is more than the first page told.
  const total = (readPages?.[0]?.total ?? 0) + changes.added.length
  const [firstId] = ids
  const above = cursors.slice(0, Math.max(0, cursors.indexOf(start)))

  async function change<Result>(
    cursor: string,
    beforeChange: () => void,
    apply: (page: CachedPage) => Result,
  ): Promise<Result> {
    const page = await readPage(cursor)
    // A read of the list that is on its way would overwrite the change.
    await client
      .getQueryCache()
      .find({ queryKey })
      ?.promise?.catch(() => {})
    beforeChange()
    return apply(page)
  }

  return {
    pages,
    ids,
    hasNewer: (id: string) => hasNewer(list, id),
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
    /** The first post that was read, below those that were published here. */
    readId: list.pages[0]?.ids[0],
    /** Null at the end of the list. */
    nextCursor: readPages?.at(-1)?.nextCursor ?? null,
    /** Every post states the length of the list, so it stays as the first page told it. */
    total,
    /** What to begin with on a return, so that newer posts wait. */
    first: start === '' && firstId !== undefined ? { id: firstId, total } : anchor?.first,
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
    /**
     * Puts what is newer above what was read, and returns whether there is such. Throws CallError
     * and changes nothing.
     */
    showNewer: (beforeChange: () => void): Promise<boolean> =>
      change('', beforeChange, (first) => showNewer(client, { name, entryKey }, first)),
    /** Reads on below a page with a gap. Throws CallError and changes nothing. */
    fillGap: (cursor: string, beforeChange: () => void): Promise<void> =>
      change(cursor, beforeChange, (page) => fillGap(client, { name, entryKey }, page)),
  } as const
}
