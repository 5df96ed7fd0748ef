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
  /** The cursor at which the page begins, read downwards; '' is the beginning of the list. */
  cursor: string
  ids: string[]
  /** Null at the end of the list. */
  nextCursor: string | null
  /** The length of the list. Only the first page has a current `total`, `above` and `stop`. */
  total: number
  /** The number of posts above the page; 0 only if there were none. */
  above: number
  /** The cursor at which the list began before newer posts were added above it. */
  stop?: string | undefined
}
export type CachedPages = InfiniteData<CachedPage, string>

/** A page as it is shown. `key` stays the same when more pages are read. */
export type ShownPage = { key: string; ids: readonly string[]; above: number }

/** How long a list is kept for a return to it. */
export const LIST_LIFETIME_MS = 30 * 60_000

export const LISTS = 'list'
/** The key of the page of posts that were published in this tab. */
export const PUBLISHED = 'published'

/**
 * Each history entry has its own list: a link reads it anew, going back finds it as it was. Posts
 * published in this tab have a key of their own, so that no read overwrites them.
 */
export function pagesKey(name: ListName, entryKey: string | typeof PUBLISHED) {
  return [LISTS, name, entryKey, 'pages'] as const
}

function isPages({ queryKey }: Query): boolean {
  return queryKey[0] === LISTS && queryKey.at(-1) === 'pages'
}

/**
 * Clears the cache for another viewer. Public lists stay on the screen, so that the reader keeps
 * their place, but without likes until they have been read again.
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

const PRIVATE_LISTS = new Set<unknown>(['liked', 'received'] satisfies ListName[])

function isPublicList([kind, name]: readonly unknown[]): boolean {
  return kind === LISTS && !PRIVATE_LISTS.has(name)
}

export function seedList(
  client: QueryClient,
  { name, entryKey, cursor }: { name: ListName; entryKey: string; cursor: string },
  answer: PostPage,
): void {
  const pages = [cachePage(client, cursor, answer)]
  client.setQueryData<CachedPages>(pagesKey(name, entryKey), { pages, pageParams: [cursor] })
}

/** Puts the posts of an answer into the cache, and returns their page. */
export function cachePage(
  client: QueryClient,
  cursor: string,
  { posts, nextCursor, total }: PostPage,
  version?: number,
): CachedPage {
  return { cursor, ids: putPosts(client, posts, version), nextCursor, total, above: 0 }
}

/** Resolves when each list and post on the page has been read once, or has failed. */
export async function whenListsAreRead(client: QueryClient): Promise<void> {
  const lists = client.getQueryCache().findAll({ type: 'active' })
  const waiting = lists.filter(({ state }) => state.data === undefined)
  await Promise.allSettled(waiting.map((list) => list.promise))
}

/** Adds a published post to lists. Logs a list that has it already, and shows it only once. */
export function addToLists(client: QueryClient, names: readonly ListName[], id: string): void {
  client.setQueryDefaults([LISTS], { gcTime: LIST_LIFETIME_MS })
  for (const name of names) {
    const lists = client.getQueriesData<CachedPages>({
      queryKey: [LISTS, name],
      predicate: isPages,
    })
    const pages = lists.flatMap(([, list]) => list?.pages ?? [])
    if (pages.some(({ ids }) => ids.includes(id))) {
      console.warn(new Error(`Пост с id=${id} уже существует`))
    }
    const ids = [id, ...publishedIn(client, name).filter((it) => it !== id)]
    const page = { cursor: '', ids, nextCursor: null, total: ids.length, above: 0 }
    const key = pagesKey(name, PUBLISHED)
    client.setQueryData<CachedPages>(key, { pages: [page], pageParams: [''] })
  }
}

/** Returns the ids of the posts published in this tab, newest first. */
export function publishedIn(client: QueryClient, name: ListName): readonly string[] {
  return client.getQueryData<CachedPages>(pagesKey(name, PUBLISHED))?.pages[0]?.ids ?? []
}

/** Removes a post from every screen; quotes of it turn into a placeholder. */
export function evictPost(client: QueryClient, id: string): void {
  const repliedId = readCachedPost(client, id)?.actions.replied_post_id
  if (repliedId) changePost(client, repliedId, withOneReplyLess)
  setTombstone(client, id)
  const without = (page: CachedPage) => ({ ...page, ids: page.ids.filter((it) => it !== id) })
  client.setQueriesData<CachedPages>(
    { predicate: isPages },
    (list) => list && { ...list, pages: list.pages.map(without) },
  )
}

function withOneReplyLess<P extends { actions: { replies_count: number } }>(post: P): P {
  const replies_count = Math.max(0, post.actions.replies_count - 1)
  return { ...post, actions: { ...post.actions, replies_count } }
}

/**
 * Makes the page above `below` from an answer read upwards at `cursor`. `start` is the beginning of
 * the list. The difference of the totals is the number of posts added meanwhile.
 */
export function pageAbove(
  below: CachedPage,
  { cursor, start }: { cursor: string; start: string },
  { ids, nextCursor, total }: Pick<CachedPage, 'ids' | 'nextCursor' | 'total'>,
): CachedPage {
  const end = oppositeCursor(cursor)
  const stop = below.above === 0 && ids.length > 0 ? end : below.stop
  const page = { ids: [...ids].reverse(), nextCursor: end, total, stop }
  if (nextCursor === null) return { ...page, cursor: ids.length > 0 ? start : end, above: 0 }
  const above = below.above + total - below.total - ids.length
  return { ...page, cursor: oppositeCursor(nextCursor), above: Math.max(1, above) }
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

/** Whether a post exists, and the viewer has not hidden its author. */
export function isShown(client: QueryClient, id: string, hidden: readonly string[]): boolean {
  const post = readCachedPost(client, id)
  return post !== null && !hidden.includes(post?.owner.id ?? '')
}

/** Whether a post is newer than all posts that were read. */
export function isAboveRead(pages: readonly CachedPage[], id: string): boolean {
  const top = pages.find(({ ids }) => ids.length > 0)?.ids[0]
  return top === undefined || BigInt(id) > BigInt(top)
}

/** Returns the first of the posts below the newer ones; undefined if none came above. */
export function stoppedAt(pages: readonly CachedPage[], ids: readonly string[]) {
  const { stop } = pages[0] ?? {}
  if (stop === undefined) return undefined
  const at = ids.findIndex((id) => BigInt(id) < BigInt(stop))
  return at > 0 ? ids[at] : undefined
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
): ShownPage[] {
  let above = pages[0]?.above ?? 0
  const place = (key: string, all: readonly string[]) => {
    const ids = all.every(isShown) ? all : all.filter(isShown)
    const page = { key, ids, above }
    above += ids.length
    return page
  }
  const own = published.filter((id) => isAboveRead(pages, id))
  const first = place(PUBLISHED, own)
  const read = pages.map(({ ids, nextCursor }) => place(nextCursor ?? 'end', ids))
  return [first, ...read].filter(({ ids }) => ids.length > 0)
}

/** Whether other posts were added above a post, or its page is rendered anew. */
export function hasMoved(
  former: readonly ShownPage[],
  pages: readonly ShownPage[],
  postId: string,
): boolean {
  const [before, now] = [former, pages].map((all) => {
    const read = all.filter(({ key }) => key !== PUBLISHED)
    return { top: read[0]?.key, own: read.find(({ ids }) => ids.includes(postId))?.key }
  })
  return now?.own !== before?.own || (now?.own !== undefined && now.top !== before?.top)
}
