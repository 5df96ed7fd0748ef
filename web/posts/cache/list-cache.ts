import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query'
import { cursorAt } from '../../../contract/pages.ts'
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

/** Ids of posts after the one that the cursor names; '' is the cursor of the first page. */
export type ListPage = {
  cursor: string
  ids: string[]
  /** Set if posts between this page and the next are not read. */
  gap?: Gap
}
/** The cursor at which it begins, and how many posts it has, or 0 if that is not known. */
export type Gap = { cursor: string; size: number }
export type CachedPage = ListPage & { nextCursor: string | null; total: number }
export type CachedPages = InfiniteData<CachedPage, string>

export type PostList = { pages: readonly ListPage[] } & LocalChanges

export type LocalChanges = {
  /** Published here after the list was read, newest first. */
  added: readonly string[]
  removed: readonly string[]
  /** The cursor of the page that was the first until newer posts were put above it. */
  stoppedAt?: string
}

/** A page as it is shown; `key` stays the same when newer posts are put above it. */
export type ShownPage = ListPage & { key: string; isStop: boolean }
/** `above` counts the posts above the page; null where that is not known. */
export type PlacedPage = ShownPage & { above: number | null }

export const NO_CHANGES: LocalChanges = { added: [], removed: [] }
/** How long going back still finds a list as it was left. */
export const LIST_LIFETIME_MS = 30 * 60_000

export const LISTS = 'list'

/** Each history entry has its own list: a link reads anew, going back finds what was there. */
export function pagesKey(name: ListName, entryKey: string) {
  return [LISTS, name, entryKey, 'pages'] as const
}

/** Local changes stand beside the pages, so that a page still being read cannot overwrite them. */
export function changesKey(name: ListName, entryKey: string) {
  return [LISTS, name, entryKey, 'changes'] as const
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
  const first = { cursor, ids: putPosts(client, posts), nextCursor, total }
  const pages: CachedPages = { pages: [first], pageParams: [cursor] }
  client.setQueryData<CachedPages>(pagesKey(name, entryKey), pages)
}

/** Resolves when no list or post on the page waits to be read for the first time any more. */
export async function whenListsAreRead(client: QueryClient): Promise<void> {
  const lists = client.getQueryCache().findAll({ type: 'active' })
  const waiting = lists.filter(({ state }) => state.data === undefined)
  await Promise.allSettled(waiting.map((list) => list.promise))
}

/** A list that has the post already refuses it, which is logged. */
export function addToLists(client: QueryClient, names: readonly ListName[], id: string): void {
  for (const name of names) {
    changeLists(client, name, (list) => {
      try {
        return addPost(list, id)
      } catch (error) {
        console.warn(error)
        return list
      }
    })
  }
}

/** Removes a post from every screen; quotes of it turn into a placeholder. */
export function evictPost(client: QueryClient, id: string): void {
  const repliedId = readCachedPost(client, id)?.actions.replied_post_id
  if (repliedId) changePost(client, repliedId, withOneReplyLess)
  setTombstone(client, id)
  changeLists(client, undefined, (list) => removePost(list, id))
}

function withOneReplyLess<P extends { actions: { replies_count: number } }>(post: P): P {
  const replies_count = Math.max(0, post.actions.replies_count - 1)
  return { ...post, actions: { ...post.actions, replies_count } }
}

function changeLists(
  client: QueryClient,
  name: ListName | undefined,
  change: (list: PostList) => PostList,
): void {
  client.setQueryDefaults([LISTS], { gcTime: LIST_LIFETIME_MS })
  const prefix = name === undefined ? [LISTS] : [LISTS, name]
  for (const { queryKey } of client.getQueryCache().findAll({ queryKey: prefix })) {
    const [, listName, entryKey, entry] = queryKey as [string, ListName, string, string]
    if (entry !== 'pages') continue
    const { pages: _, ...changes } = change(readList(client, listName, entryKey))
    client.setQueryData<LocalChanges>(changesKey(listName, entryKey), changes)
  }
}

function readList(client: QueryClient, name: ListName, entryKey: string): PostList {
  const pages = client.getQueryData<CachedPages>(pagesKey(name, entryKey))?.pages ?? []
  const changes = client.getQueryData<LocalChanges>(changesKey(name, entryKey)) ?? NO_CHANGES
  return { pages, ...changes }
}

/** Puts the first page, read anew, above what was read before. Returns whether it has newer posts. */
export function showNewer(
  client: QueryClient,
  { name, entryKey }: { name: ListName; entryKey: string },
  first: CachedPage,
): boolean {
  const key = pagesKey(name, entryKey)
  const [former, ...older] = client.getQueryData<CachedPages>(key)?.pages ?? []
  const [formerId] = former?.ids ?? []
  const [newestId] = first.ids
  if (newestId === undefined) return false
  if (!former || formerId === undefined) {
    setPages(client, key, [first])
    return true
  }
  const below = { ...former, cursor: cursorAt(formerId) }
  const page = joinPage(first, below, first.total - former.total)
  if (page.ids.length === 0) return false
  setPages(client, key, [page, below, ...older])
  client.setQueryData<LocalChanges>(changesKey(name, entryKey), (changes = NO_CHANGES) => ({
    ...changes,
    // The others stand in the page or below it.
    added: changes.added.filter((id) => isNewer(id, newestId)),
    stoppedAt: below.cursor,
  }))
  return true
}

/** Puts a page into the gap below the page that it follows. */
export function fillGap(
  client: QueryClient,
  { name, entryKey }: { name: ListName; entryKey: string },
  page: CachedPage,
): void {
  const key = pagesKey(name, entryKey)
  const { pages = [] } = client.getQueryData<CachedPages>(key) ?? {}
  const at = pages.findIndex(({ gap }) => gap?.cursor === page.cursor)
  const below = pages[at + 1]
  const { gap, ...above } = pages[at] ?? {}
  if (!below || !gap) return
  const filled = [above as CachedPage, joinPage(page, below, gap.size)]
  setPages(
    client,
    key,
    pages.flatMap((it) => (it === pages[at] ? filled : [it])),
  )
}

function setPages(client: QueryClient, key: readonly unknown[], pages: CachedPage[]): void {
  client.setQueryData<CachedPages>(key, { pages, pageParams: pages.map(({ cursor }) => cursor) })
}

/**
 * Ends a page of a list by id where the page below it begins, which was read earlier. If it does
 * not reach so far, a gap is between the two. `missing` posts are in the page and the gap.
 */
export function joinPage(page: CachedPage, below: CachedPage, missing: number): CachedPage {
  const { nextCursor: cursor } = page
  if (cursor !== null && isNewer(cursor, below.cursor)) {
    return { ...page, gap: { cursor, size: Math.max(0, missing - page.ids.length) } }
  }
  const ids = page.ids.filter((id) => !isNewer(below.cursor, id))
  return { ...page, ids, nextCursor: below.cursor }
}

function isNewer(id: string, other: string): boolean {
  return BigInt(id) > BigInt(other)
}

/** Returns the list without the posts of some authors, as if they were removed. */
export function withoutAuthors(
  client: QueryClient,
  list: PostList,
  authors: readonly string[],
): PostList {
  if (authors.length === 0) return list
  const isTheirs = (id: string) => authors.includes(readCachedPost(client, id)?.owner.id ?? '')
  return {
    ...list,
    removed: [...list.removed, ...list.pages.flatMap(({ ids }) => ids.filter(isTheirs))],
  }
}

/**
 * Returns the pages with the posts to show, each of them once, without the pages that have none. A
 * page of which nothing is left out keeps its array: its cards are not rendered again.
 */
export function shownPages({ pages, added, removed, stoppedAt }: PostList): ShownPage[] {
  const seen = new Set(removed)
  const isNew = (id: string) => !seen.has(id) && seen.add(id)
  const withoutSeen = (ids: string[]) => {
    const left = ids.filter(isNew)
    return left.length < ids.length ? left : ids
  }
  return pages
    .map(({ cursor, ids, gap }) => ({
      cursor,
      key: ids.at(-1) ?? cursor,
      ids: withoutSeen(cursor || added.length === 0 ? ids : [...added, ...ids]),
      ...(gap && { gap }),
      isStop: cursor === stoppedAt,
    }))
    .filter(({ ids, gap }) => ids.length > 0 || gap !== undefined)
}

/** Counts the posts above each page, from the page of which that is known. */
export function placePages(
  pages: readonly ShownPage[],
  known: { cursor: string; above: number },
): PlacedPage[] {
  let next = 0
  const starts = pages.map(({ ids, gap }) => {
    const start = next
    // What follows a gap of unknown size is not known either.
    next += ids.length + (gap ? gap.size || Number.NaN : 0)
    return start
  })
  const at = pages.findIndex(({ cursor }) => cursor === known.cursor)
  const before = known.above - (starts[at] ?? Number.NaN)
  return pages.map((page, index) => {
    const above = before + (starts[index] ?? 0)
    return { ...page, above: Number.isNaN(above) ? null : above }
  })
}

export function addPost(list: PostList, id: string): PostList {
  if (hasPost(list, id)) throw new Error(`Пост с id=${id} уже существует`)
  return { ...list, added: [id, ...list.added] }
}

/** The post stays hidden even when a page read before the deletion brings it again. */
export function removePost(list: PostList, id: string): PostList {
  return list.removed.includes(id) ? list : { ...list, removed: [...list.removed, id] }
}

export function hasPost(list: PostList, id: string): boolean {
  const { pages, added, removed } = list
  return [{ ids: added }, { ids: removed }, ...pages].some(({ ids }) => ids.includes(id))
}

/** Whether a post is newer than all that was read, and was not published here. */
export function hasNewer({ pages: [first], added, removed }: PostList, id: string): boolean {
  const top = first?.ids[0]
  return !added.includes(id) && !removed.includes(id) && (top === undefined || isNewer(id, top))
}
