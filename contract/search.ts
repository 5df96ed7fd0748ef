import Type from 'typebox'
import { SEARCH_MAX } from './constants.ts'
import { described, endpoint, strictObject } from './endpoint.ts'
import { line, NextCursor, pageQuery } from './fields.ts'
import { Post } from './posts.ts'

export const SearchPage = strictObject({
  posts: Type.Array(Post),
  nextCursor: NextCursor,
  words: Type.Array(Type.String(), {
    description: 'The forms of the search words that occur in these posts, with «ё» as «е»',
  }),
  similar: Type.Array(Type.String(), {
    description: 'Ids of the last posts, in which the last search word only begins a longer word',
  }),
})
export type SearchPage = Type.Static<typeof SearchPage>

export const searchPosts = endpoint('GET', '/posts/search', {
  access: 'public',
  summary: 'Posts and replies that have all words of `q` in any form, newest first',
  query: strictObject({
    q: described(
      line(1, SEARCH_MAX),
      'May contain `"a phrase"`, `-without`. A last word of 5 letters also finds longer words',
    ),
    scope: Type.Optional(
      described(
        Type.Enum(['own', 'liked']),
        'Only what the viewer wrote, or liked; without it, all posts',
      ),
    ),
    limit: pageQuery.limit,
    cursor: pageQuery.cursor,
  }),
  answer: SearchPage,
  errors: ['INVALID_REQUEST', 'QUERY_TOO_BROAD'],
})
