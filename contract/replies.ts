import Type from 'typebox'
import { endpoint, strictObject } from './endpoint.ts'
import { Id, IdParams, PageQuery, pageQuery } from './fields.ts'
import { IdempotencyHeaders, Post, PostBody, PostPage } from './posts.ts'

export const listReplies = endpoint('GET', '/posts/:id/replies', {
  access: 'public',
  cache: {},
  summary: 'Direct replies to a post, newest first',
  params: IdParams,
  query: PageQuery,
  status: 200,
  answer: PostPage,
  errors: ['INVALID_REQUEST', 'POST_NOT_FOUND'],
})

export const listRepliesOf = endpoint('GET', '/posts/replies', {
  access: 'public',
  cache: { unless: { userId: undefined } },
  summary: 'The replies of one user, or the viewer’s own; newest first',
  query: strictObject({ ...pageQuery, userId: Type.Optional(Id) }),
  status: 200,
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
