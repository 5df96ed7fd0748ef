import Type from 'typebox'
import { SEARCH_MAX } from './constants.ts'
import { endpoint, nullable, strictObject } from './endpoint.ts'
import { line, pageQuery } from './fields.ts'
import { Post } from './posts.ts'

export const SearchPage = strictObject({
  posts: Type.Array(Post),
  nextCursor: nullable(Type.String()),
  /** The forms of the search words that occur in these posts, with «ё» written as «е». */
  words: Type.Array(Type.String()),
  /** Ids of the last posts, in which the last search word only begins a longer word. */
  similar: Type.Array(Type.String()),
})
export type SearchPage = Type.Static<typeof SearchPage>

export const searchPosts = endpoint('GET', '/posts/search', {
  access: 'public',
  summary: 'Posts and replies that have all words of `q` in any form, newest first',
  query: strictObject({
    /** May contain `"a phrase"`, `-without`. A last word of 5 letters also finds longer words. */
    q: line(1, SEARCH_MAX),
    limit: pageQuery.limit,
    cursor: pageQuery.cursor,
  }),
  answer: SearchPage,
  errors: ['INVALID_REQUEST', 'QUERY_TOO_BROAD'],
})
