import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query'
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
  | 'own-posts'
  | 'own-replies'
  | 'received'
  | `replies ${string}`

/** Ids of posts after the one that the cursor names; '' is the cursor of the first page. */
export type ListPage = { cursor: string; ids: string[] }
export type CachedPage = ListPage & { nextCursor: string | null; total: number }
export type CachedPages = InfiniteData<CachedPage, string>

export type PostList = { pages: readonly ListPage[] } & LocalChanges

export type LocalChanges = {
  /** Published here after the list was read, newest first. */
  added: readonly string[]
  removed: readonly string[]
}

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
  void client.resetQueries({ predicate: (it) => !isKept(it) })
  void client.invalidateQueries({ predicate: ({ queryKey }) => isPublicList(queryKey) })
}

function isPublicList([kind, name]: readonly unknown[]): boolean {
  return kind === LISTS && (name === 'wall' || String(name).startsWith('replies '))
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

export function addToLists(client: QueryClient, names: readonly ListName[], id: string): void {
  for (const name of names) {
    changeLists(client, name, (list) => (hasPost(list, id) ? list : addPost(list, id)))
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
    const { added, removed } = change(readList(client, listName, entryKey))
    client.setQueryData<LocalChanges>(changesKey(listName, entryKey), { added, removed })
  }
}

function readList(client: QueryClient, name: ListName, entryKey: string): PostList {
  const pages = client.getQueryData<CachedPages>(pagesKey(name, entryKey))?.pages ?? []
  const changes = client.getQueryData<LocalChanges>(changesKey(name, entryKey)) ?? NO_CHANGES
  return { pages, ...changes }
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

/** Returns the pages with the posts to show, each of them once, without the pages that have none. */
export function shownPages({ pages, added, removed }: PostList): ListPage[] {
  const seen = new Set(removed)
  const isNew = (id: string) => !seen.has(id) && seen.add(id)
  return pages
    .map(({ cursor, ids }) => {
      return { cursor, ids: (cursor === '' ? [...added, ...ids] : ids).filter(isNew) }
    })
    .filter(({ ids }) => ids.length > 0)
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

/** Only posts before the first known one are new: later ones moved up after deletions. */
export function hasNewer(list: PostList, firstPage: readonly string[]): boolean {
  const read = new Set(list.pages.flatMap(({ ids }) => ids))
  const end = firstPage.findIndex((id) => read.has(id))
  const newer = end < 0 ? firstPage : firstPage.slice(0, end)
  return newer.some((id) => !hasPost(list, id))
}
