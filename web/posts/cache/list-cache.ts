import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { addPost, hasPost, type PostList, removePost } from './post-list.ts'

/** What a list shows: the replies to one post, or one of the four views. */
export type ListName = 'wall' | 'liked' | 'own-posts' | 'own-replies' | `replies ${string}`

/** A page of a list as cached: ids only, the posts stand in their own entries. */
export type CachedPage = { ids: string[]; nextCursor: string | null; total: number }
export type CachedPages = InfiniteData<CachedPage, string | null>
export type LocalChanges = Pick<PostList, 'added' | 'removed'>

export const NO_CHANGES: LocalChanges = { added: [], removed: [] }
/** Minutes for which going back finds a list as it was left. */
export const LIST_KEPT_MS = 30 * 60_000

const LISTS = 'list'

/**
 * Each visit (an entry of the browser's history) has a list of its own: arriving by a link reads anew, while going
 * back finds what was there.
 */
export function pagesKey(name: ListName, visit: string) {
  return [LISTS, name, visit, 'pages'] as const
}

/** What was published and deleted here since; apart from the pages, so that a page under way cannot undo it. */
export function changesKey(name: ListName, visit: string) {
  return [LISTS, name, visit, 'changes'] as const
}

/** Puts a published post first in every cached list of these names that does not have it yet. */
export function addToLists(client: QueryClient, names: readonly ListName[], id: string): void {
  for (const name of names) {
    changeLists(client, name, (list) => (hasPost(list, id) ? list : addPost(list, id)))
  }
}

/** Takes a deleted post out of every cached list. */
export function removeFromLists(client: QueryClient, id: string): void {
  changeLists(client, undefined, (list) => removePost(list, id))
}

function changeLists(
  client: QueryClient,
  name: ListName | undefined,
  change: (list: PostList) => PostList,
): void {
  client.setQueryDefaults([LISTS], { gcTime: LIST_KEPT_MS })
  const prefix = name === undefined ? [LISTS] : [LISTS, name]
  for (const { queryKey } of client.getQueryCache().findAll({ queryKey: prefix })) {
    const [, of, visit, part] = queryKey as [string, ListName, string, string]
    if (part !== 'pages') continue
    const { added, removed } = change(readList(client, of, visit))
    client.setQueryData<LocalChanges>(changesKey(of, visit), { added, removed })
  }
}

function readList(client: QueryClient, name: ListName, visit: string): PostList {
  const pages = client.getQueryData<CachedPages>(pagesKey(name, visit))?.pages ?? []
  const changes = client.getQueryData<LocalChanges>(changesKey(name, visit)) ?? NO_CHANGES
  return { pages: pages.map((page) => page.ids), ...changes }
}
