import type { PostPage } from './posts.ts'
import type { FoundPage } from './search.ts'

/** The heading of posts in which the last search word only begins a longer word. */
export const SIMILAR_LINE = 'Похожие слова'

export function searchTitle(q: string): string {
  return q === '' ? 'Поиск' : `Поиск: ${q}`
}

/** Returns found posts as a page. The counts have no meaning, because searches are not counted. */
export function pageOf({ posts, nextCursor }: Pick<FoundPage, 'posts' | 'nextCursor'>): PostPage {
  return { posts, firstPage: 1, lastPage: 1, total: posts.length, nextCursor }
}

export const NO_POSTS = pageOf({ posts: [], nextCursor: null })
