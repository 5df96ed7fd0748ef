import type { PostPage } from './posts.ts'
import type { FoundPage } from './search.ts'

/** Stands above the posts that only have a word that begins like the last word of the search. */
export const SIMILAR_LINE = 'Похожие слова'

export function searchTitle(q: string): string {
  return q === '' ? 'Поиск' : `Поиск: ${q}`
}

/** Nobody counts what a search finds. */
export function pageOf({ posts, nextCursor }: Pick<FoundPage, 'posts' | 'nextCursor'>): PostPage {
  return { posts, firstPage: 1, lastPage: 1, total: posts.length, nextCursor }
}
