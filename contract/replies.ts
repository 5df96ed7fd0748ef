import Type from 'typebox'
import { ANCESTORS_MAX, FROM_OLDEST } from './constants.ts'
import { described, endpoint, strictObject } from './endpoint.ts'
import { Count, Id, IdParams, PageQuery, pageQuery } from './fields.ts'
import { IdempotencyHeaders, Post, PostBody, PostPage } from './posts.ts'

export const listReplies = endpoint('GET', '/posts/:id/replies', {
  access: 'public',
  cache: {},
  summary: `Direct replies to a post, newest first; with cursor=${FROM_OLDEST} oldest first`,
  params: IdParams,
  query: PageQuery,
  answer: PostPage,
  errors: ['INVALID_REQUEST', 'POST_NOT_FOUND'],
})

/** Excludes invisible posts. A reply to an invisible post has null as its `replied_post`. */
export const Ancestors = strictObject({
  posts: Type.Array(Post),
  total: described(Count, 'How many visible posts there are above the reply'),
})
export type Ancestors = Type.Static<typeof Ancestors>

export const listAncestors = endpoint('GET', '/posts/:id/ancestors', {
  access: 'public',
  cache: {},
  summary: 'The posts above a reply up to the start of its thread: the nearest ones, oldest first',
  params: IdParams,
  query: strictObject({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: ANCESTORS_MAX,
        default: ANCESTORS_MAX,
        description: 'The most posts; those nearest to the reply are returned',
      }),
    ),
  }),
  answer: Ancestors,
  errors: ['INVALID_REQUEST', 'POST_NOT_FOUND'],
})

export const listRepliesOf = endpoint('GET', '/posts/replies', {
  access: 'public',
  cache: { unless: { userId: undefined } },
  summary: 'The replies of one user, or the viewer’s own; newest first',
  query: strictObject({ ...pageQuery, userId: Type.Optional(Id) }),
  answer: PostPage,
  errors: ['INVALID_REQUEST'],
})

export const createReply = endpoint('POST', '/posts/:id/replies', {
  access: 'user',
  publishes: true,
  summary: 'Publish a reply to a post',
  params: IdParams,
  headers: IdempotencyHeaders,
  body: PostBody,
  status: 201,
  answer: Post,
  errors: ['POST_NOT_FOUND'],
})
