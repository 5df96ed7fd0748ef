import type { PostPage } from './posts.ts'
import type { SearchPage } from './search.ts'

/** What a search is limited to: what the viewer wrote, or liked. */
export type SearchScope = 'own' | 'liked'

/** The heading of posts in which the last search word only begins a longer word. */
export const SIMILAR_LINE = 'Похожие слова'

export function searchTitle(q: string): string {
  return q === '' ? 'Поиск' : `Поиск: ${q}`
}

/** Returns found posts as a page. The counts have no meaning, because searches are not counted. */
export function toPostPage({
  posts,
  nextCursor,
}: Pick<SearchPage, 'posts' | 'nextCursor'>): PostPage {
  return { posts, firstPage: 1, lastPage: 1, total: posts.length, nextCursor }
}

export const NO_POSTS = toPostPage({ posts: [], nextCursor: null })
