import type { InfiniteData, Query } from '@tanstack/react-query'
import type { PostPage } from '../../../contract/posts.ts'
import { queryClient } from '../../http/query-client.ts'
import { changePost, forgetLikes, putPosts, readCachedPost, setTombstone } from './post-cache.ts'

export type ListName = 'wall' | 'search' | 'liked' | 'received' | `${ListOf} ${string}`
type ListOf = 'replies' | 'author' | 'authorReplies' | 'searchMine'
type KindOf<Name> = Name extends `${infer Kind} ${string}` ? Kind : Name
type ListKind = KindOf<ListName>

/** Whether all viewers see the same list, so that it may stay on the screen for another one. */
const IS_PUBLIC: Record<ListKind, boolean> = {
  wall: true,
  search: true,
  replies: true,
  author: true,
  authorReplies: true,
  liked: false,
  searchMine: false,
  received: false,
}

export type CachedPage = {
  /** The cursor at which the page begins, read downwards; '' is the beginning of the list. */
  cursor: string
  ids: string[]
  /** Null at the end of the list. */
  nextCursor: string | null
  /** The length of the list. Only the first page has a current `total`, `above` and `stop`. */
  total: number
  /** An estimate of the number of posts above the page; 0 only if there were none. */
  above: number
  /** The cursor at which the list began before newer posts were added above it. */
  stop?: string | undefined
  /** Whether the likes of its posts were read for another viewer. */
  isOutdated?: boolean | undefined
}
export type CachedPages = InfiniteData<CachedPage, string>

/** The keys of lists, and of what belongs to a list, begin with this. */
export const LISTS = 'list'
/** The key of the page of posts that were published in this tab. */
export const PUBLISHED = 'published'

// The time for which a list is kept for a return to it.
queryClient.setQueryDefaults([LISTS], { gcTime: 30 * 60_000 })

/** Returns the key of a list. Each history entry has its own list, and published posts too. */
export function pagesKey(name: ListName, entryKey: string | typeof PUBLISHED) {
  return [LISTS, name, entryKey, 'pages'] as const
}

export type PagesKey = ReturnType<typeof pagesKey>

function isPages({ queryKey }: Query): boolean {
  return queryKey[0] === LISTS && queryKey.at(-1) === 'pages'
}

/**
 * Clears the cache for another viewer. Public lists stay on the screen, so that the reader keeps
 * their place, but without likes. Each page of them reads the likes when it comes near.
 */
export async function forgetViewer(): Promise<void> {
  forgetLikes()
  const isKept = ({ queryKey, state, meta }: Query) =>
    state.data !== undefined && (isPublicList(queryKey) || meta?.outlivesViewer)
  queryClient.removeQueries({ predicate: (it) => !isKept(it) && it.getObserversCount() === 0 })
  void queryClient.resetQueries({ predicate: (it) => !isKept(it) && !isPublicList(it.queryKey) })
  const isRead = (it: Query) => isPublicList(it.queryKey) && isPages(it) && it.state.data
  void queryClient.invalidateQueries({
    predicate: (it) => isPublicList(it.queryKey) && !isRead(it),
  })
  // An answer in flight may have the former viewer's likes. The list asks again.
  const read = { predicate: (it: Query) => !!isRead(it) }
  await queryClient.cancelQueries(read)
  queryClient.setQueriesData<CachedPages>(read, outdated)
}

function outdated(list: CachedPages | undefined): CachedPages | undefined {
  return list && { ...list, pages: list.pages.map((page) => ({ ...page, isOutdated: true })) }
}

function isPublicList([kind, name]: readonly unknown[]): boolean {
  const [first = ''] = String(name).split(' ')
  return kind === LISTS && Object.hasOwn(IS_PUBLIC, first) && IS_PUBLIC[first as ListKind]
}

export function seedList(
  { name, entryKey, cursor }: { name: ListName; entryKey: string; cursor: string },
  answer: PostPage,
): void {
  setOnlyPage(pagesKey(name, entryKey), cachePage(cursor, answer))
}

export function setOnlyPage(key: PagesKey, page: CachedPage): void {
  queryClient.setQueryData<CachedPages>(key, { pages: [page], pageParams: [page.cursor] })
}

/** Puts the posts of an answer into the cache, and returns their page. */
export function cachePage(
  cursor: string,
  { posts, nextCursor, total }: PostPage,
  version?: number,
): CachedPage {
  return { cursor, ids: putPosts(posts, version), nextCursor, total, above: 0 }
}

/** Resolves when each list and post on the page has been read once, or has failed. */
export async function whenListsAreRead(): Promise<void> {
  const lists = queryClient.getQueryCache().findAll({ type: 'active' })
  const waiting = lists.filter(({ state }) => state.data === undefined)
  await Promise.allSettled(waiting.map((list) => list.promise))
}

/** Adds a published post to lists. Logs a list that has it already, and shows it only once. */
export function addToLists(names: readonly ListName[], id: string): void {
  for (const name of names) {
    const filter = { queryKey: [LISTS, name], predicate: isPages }
    const lists = queryClient.getQueriesData<CachedPages>(filter)
    if (lists.some(([, list]) => list?.pages.some(({ ids }) => ids.includes(id)))) {
      console.warn(new Error(`Пост с id=${id} уже существует`))
    }
    const ids = [id, ...publishedIn(name).filter((it) => it !== id)]
    const page = { cursor: '', ids, nextCursor: null, total: ids.length, above: 0 }
    setOnlyPage(pagesKey(name, PUBLISHED), page)
  }
}

/** Returns the ids of the posts that were published in this tab, newest first. */
export function publishedIn(name: ListName): readonly string[] {
  return queryClient.getQueryData<CachedPages>(pagesKey(name, PUBLISHED))?.pages[0]?.ids ?? []
}

/** Removes a post from every screen; quotes of it turn into a placeholder. */
export function evictPost(id: string): void {
  const repliedId = readCachedPost(id)?.actions.replied_post_id
  if (repliedId) {
    changePost(repliedId, ({ actions, clarification, ...replied }) => {
      const replies_count = Math.max(0, actions.replies_count - 1)
      const isLeft = clarification && clarification.id !== id
      return {
        ...replied,
        ...(isLeft && { clarification }),
        actions: { ...actions, replies_count },
      }
    })
  }
  setTombstone(id)
  const without = (page: CachedPage) => ({ ...page, ids: page.ids.filter((it) => it !== id) })
  queryClient.setQueriesData<CachedPages>(
    { predicate: isPages },
    (list) => list && { ...list, pages: list.pages.map(without) },
  )
}
