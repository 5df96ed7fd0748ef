import Type from 'typebox'
import { SEARCH_MAX } from './constants.ts'
import { endpoint, nullable, strictObject } from './endpoint.ts'
import { line, pageQuery } from './fields.ts'
import { Post } from './posts.ts'

export const FoundPage = strictObject({
  posts: Type.Array(Post),
  nextCursor: nullable(Type.String()),
  /** The forms in which these posts have the words that were searched for, «ё» written as «е». */
  words: Type.Array(Type.String()),
  /** Ids of the last of these posts, which have only words that begin like the last word of the search. */
  similar: Type.Array(Type.String()),
})
export type FoundPage = Type.Static<typeof FoundPage>

export const searchPosts = endpoint('GET', '/posts/search', {
  access: 'public',
  summary: 'Posts and replies that have all words of `q` in any form, newest first',
  query: strictObject({
    /** `"a phrase"`, `-without`; a last word of five letters or more may be the beginning of one. */
    q: line(1, SEARCH_MAX),
    limit: pageQuery.limit,
    cursor: pageQuery.cursor,
  }),
  status: 200,
  answer: FoundPage,
  errors: ['INVALID_REQUEST', 'QUERY_TOO_BROAD'],
})
