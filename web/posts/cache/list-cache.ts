import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query'
import { cursorAt, oppositeCursor } from '../../../contract/pages.ts'
import type { PostPage } from '../../../contract/posts.ts'
import {
  changePost,
  forgetLikes,
  isPostKey,
  putPosts,
  readCachedPost,
  setTombstone,
} from './post-cache.ts'

export type ListName =
  | 'wall'
  | 'liked'
  | 'received'
  | 'search'
  | `replies ${string}`
  | `posts-of ${string}`
  | `replies-of ${string}`

export type CachedPage = {
  /** Where it begins when it is read downwards; '' is the beginning of the list. */
  cursor: string
  ids: string[]
  /** Null at the end of the list. */
  nextCursor: string | null
  total: number
  /** How many posts stand above it if it is the first page that is read; 0 only if none did. */
  above: number
}
export type CachedPages = InfiniteData<CachedPage, string>

/** A page as it is shown; `key` stays the same when the list is read on. */
export type ShownPage = { key: string; ids: readonly string[]; above: number }

/** How long going back still finds a list as it was left. */
export const LIST_LIFETIME_MS = 30 * 60_000

export const LISTS = 'list'
/** The key of the page of posts that were published here. */
export const PUBLISHED = 'published'

/** Each history entry has its own list: a link reads anew, going back finds what was there. */
export function pagesKey(name: ListName, entryKey: string) {
  return [LISTS, name, entryKey, 'pages'] as const
}

function isPages({ queryKey }: Query): boolean {
  return queryKey[0] === LISTS && queryKey.at(-1) === 'pages'
}

/** What was published here, newest first, stands beside the pages: a read cannot overwrite it. */
export function publishedKey(name: ListName) {
  return [LISTS, name, PUBLISHED] as const
}

function isPublished({ queryKey }: Query): boolean {
  return queryKey[0] === LISTS && queryKey.at(-1) === PUBLISHED
}

/** The post that was the first until newer ones were put above it. */
export function stopKey(name: ListName, entryKey: string) {
  return [LISTS, name, entryKey, 'stop'] as const
}

/**
 * What everybody sees alike stays on the screen, and with it the place where one reads: only its
 * likes go, until it has been read again.
 */
export function forgetViewer(client: QueryClient): void {
  forgetLikes(client)
  const isKept = ({ queryKey, state, meta }: Query) =>
    state.data !== undefined &&
    (isPostKey(queryKey) || isPublicList(queryKey) || meta?.outlivesViewer)
  client.removeQueries({ predicate: (it) => !isKept(it) && it.getObserversCount() === 0 })
  void client.resetQueries({ predicate: (it) => !isKept(it) && !isPublicList(it.queryKey) })
  void client.invalidateQueries({ predicate: ({ queryKey }) => isPublicList(queryKey) })
}

/** The first words of the names. */
const PUBLIC_LISTS = new Set<unknown>(['wall', 'search', 'replies', 'posts-of', 'replies-of'])

function isPublicList([kind, name]: readonly unknown[]): boolean {
  return kind === LISTS && PUBLIC_LISTS.has(`${name}`.split(' ')[0])
}

export function seedList(
  client: QueryClient,
  { name, entryKey, cursor }: { name: ListName; entryKey: string; cursor: string },
  { posts, nextCursor, total }: PostPage,
): void {
  const first = { cursor, ids: putPosts(client, posts), nextCursor, total, above: 0 }
  const pages: CachedPages = { pages: [first], pageParams: [cursor] }
  client.setQueryData<CachedPages>(pagesKey(name, entryKey), pages)
}

/** Resolves when no list or post on the page waits to be read for the first time any more. */
export async function whenListsAreRead(client: QueryClient): Promise<void> {
  const lists = client.getQueryCache().findAll({ type: 'active' })
  const waiting = lists.filter(({ state }) => state.data === undefined)
  await Promise.allSettled(waiting.map((list) => list.promise))
}

/** A list that has the post already does not get it again, which is logged. */
export function addToLists(client: QueryClient, names: readonly ListName[], id: string): void {
  client.setQueryDefaults([LISTS], { gcTime: LIST_LIFETIME_MS })
  for (const name of names) {
    const published = client.getQueryData<readonly string[]>(publishedKey(name)) ?? []
    const lists = client.getQueriesData<CachedPages>({
      queryKey: [LISTS, name],
      predicate: isPages,
    })
    const pages = lists.flatMap(([, list]) => list?.pages ?? [])
    if ([{ ids: published }, ...pages].some(({ ids }) => ids.includes(id))) {
      console.warn(new Error(`Пост с id=${id} уже существует`))
    }
    client.setQueryData(publishedKey(name), [id, ...published.filter((it) => it !== id)])
  }
}

/** Removes a post from every screen; quotes of it turn into a placeholder. */
export function evictPost(client: QueryClient, id: string): void {
  const repliedId = readCachedPost(client, id)?.actions.replied_post_id
  if (repliedId) changePost(client, repliedId, withOneReplyLess)
  setTombstone(client, id)
  const without = (ids: readonly string[]) => ids.filter((it) => it !== id)
  client.setQueriesData<CachedPages>(
    { predicate: isPages },
    (list) =>
      list && { ...list, pages: list.pages.map((page) => ({ ...page, ids: without(page.ids) })) },
  )
  client.setQueriesData<readonly string[]>({ predicate: isPublished }, (ids) => ids && without(ids))
}

function withOneReplyLess<P extends { actions: { replies_count: number } }>(post: P): P {
  const replies_count = Math.max(0, post.actions.replies_count - 1)
  return { ...post, actions: { ...post.actions, replies_count } }
}

/**
 * Makes the page above another of what was read upwards at `cursor`; `start` is the beginning of
 * the list. The totals tell how many posts came above it meanwhile.
 */
export function pageAbove(
  below: CachedPage,
  { cursor, start }: { cursor: string; start: string },
  { ids, nextCursor, total }: Pick<CachedPage, 'ids' | 'nextCursor' | 'total'>,
): CachedPage {
  const end = oppositeCursor(cursor)
  const page = { ids: [...ids].reverse(), nextCursor: end, total }
  if (nextCursor === null) return { ...page, cursor: ids.length > 0 ? start : end, above: 0 }
  const above = below.above + total - below.total - ids.length
  return { ...page, cursor: oppositeCursor(nextCursor), above: Math.max(1, above) }
}

/** Where a page of a list by id begins, whatever comes above it; '' if the list is empty. */
export function beginningOf({ cursor, ids: [first], nextCursor }: CachedPage): string {
  if (cursor !== '') return cursor
  return first === undefined ? (nextCursor ?? '') : cursorAt(first)
}

/** The cursor of what stands above a page of a list by id; undefined if the list is empty. */
export function cursorAbove(page: CachedPage): string | undefined {
  const beginning = beginningOf(page)
  return beginning === '' ? undefined : oppositeCursor(beginning)
}

/** Whether a post is there, and not of an author whom the viewer has hidden. */
export function isShown(client: QueryClient, id: string, hidden: readonly string[]): boolean {
  const post = readCachedPost(client, id)
  return post !== null && !hidden.includes(post?.owner.id ?? '')
}

export function isPublishedHere(client: QueryClient, name: ListName, id: string): boolean {
  return client.getQueryData<readonly string[]>(publishedKey(name))?.includes(id) ?? false
}

function isNewer(id: string, other: string): boolean {
  return BigInt(id) > BigInt(other)
}

/** Whether a post is newer than all that was read. */
export function isAboveRead(pages: readonly CachedPage[], id: string): boolean {
  const top = pages.find(({ ids }) => ids.length > 0)?.ids[0]
  return top === undefined || isNewer(id, top)
}

/**
 * Returns the pages that have posts to show. What was published here comes first, unless it stands
 * among what was read since. A page of which nothing is left out keeps its array: its cards are not
 * rendered again.
 */
export function shownPages(
  pages: readonly CachedPage[],
  published: readonly string[] = [],
  isShown: (id: string) => boolean = () => true,
): ShownPage[] {
  let above = pages[0]?.above ?? 0
  const place = (key: string, all: readonly string[]) => {
    const ids = all.every(isShown) ? all : all.filter(isShown)
    const page = { key, ids, above }
    above += ids.length
    return page
  }
  const first = place(
    PUBLISHED,
    published.filter((id) => isAboveRead(pages, id)),
  )
  const read = pages.map(({ ids, nextCursor }) => place(nextCursor ?? 'end', ids))
  return [first, ...read].filter(({ ids }) => ids.length > 0)
}

/** Names the pages down to a post. It changes where others came above, or it is rendered anew. */
export function pagesTo(pages: readonly ShownPage[], postId: string): string {
  const at = pages.findIndex(({ ids }) => ids.includes(postId))
  const keys = pages.slice(0, at + 1).map(({ key }) => key)
  return `${keys.filter((key) => key !== PUBLISHED)}`
}
