import Type, { type TSchema } from 'typebox'
import { OPAQUE_MAX, POST_TEXT_MAX } from './constants.ts'
import { described, type Endpoint, endpoint, nullable, strictObject } from './endpoint.ts'
import { Count, Id, IdParams, NextCursor, pageQuery, UnixSeconds } from './fields.ts'

export const Owner = strictObject({ id: Id, username: Type.String() })

/** A user that a text mentions by `@name`. */
export const Mention = strictObject({
  ...Owner.properties,
  name: Type.Optional(
    Type.String({ description: 'The name in the text, in small letters, if it is a former one' }),
  ),
})
export type Mention = Type.Static<typeof Mention>

/** What an author writes, as answers have it. */
export const writtenFields = {
  text: Type.String({
    description: `At most ${POST_TEXT_MAX} Unicode code points, counted in NFC without spaces at both ends, as it is stored`,
  }),
}

function postSchema<S extends TSchema>(repliedPost: S) {
  return strictObject({
    id: Id,
    ...writtenFields,
    created_at: UnixSeconds,
    is_modified: Type.Boolean({ description: 'Whether the author has changed the text' }),
    modified_at: Type.Optional(UnixSeconds),
    owner: Owner,
    mentions: Type.Optional(
      Type.Array(Mention, { description: 'Whom the text names by `@name`; absent if nobody' }),
    ),
    actions: strictObject({
      is_liked: Type.Boolean({ description: 'By the viewer; false for a visitor' }),
      likes_count: Count,
      replies_count: Count,
      parent_post_id: described(nullable(Id), 'Of a reply: the first post of its thread'),
      replied_post_id: described(nullable(Id), 'Of a reply: the post that it answers'),
      replied_post: described(
        repliedPost,
        'Null if that post is not visible, and in a `replied_post`',
      ),
    }),
  })
}

/** The author's own reply that stands under a post, which has no clarification itself. */
const Clarification = postSchema(Type.Null())
export type Clarification = Type.Static<typeof Clarification>
const clarified = { clarification: Type.Optional(Clarification) }

/** The schema of the replied post inside a reply. Its own `replied_post` is null. */
export const RepliedPost = strictObject({ ...Clarification.properties, ...clarified })
export type RepliedPost = Type.Static<typeof RepliedPost>
export const Post = strictObject({ ...postSchema(nullable(RepliedPost)).properties, ...clarified })
export type Post = Type.Static<typeof Post>

export const PostPage = strictObject({
  posts: Type.Array(Post),
  firstPage: Count,
  lastPage: Count,
  total: Count,
  nextCursor: NextCursor,
})
export type PostPage = Type.Static<typeof PostPage>

/**
 * Other fields than the text are optional, because nodes of the older release refuse unknown
 * fields. The text is sent as typed: the server normalises it before it checks its length.
 */
export const PostBody = strictObject({
  ...Type.Partial(Type.Object(writtenFields)).properties,
  text: writtenFields.text,
})
export type PostBody = Type.Static<typeof PostBody>
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      pattern: `^[!-~]{1,${OPAQUE_MAX}}$`,
      description:
        'A random key of this publication. A retry with the same key returns the first result, or 404 if that post was deleted',
    }),
  ),
})

export const listPosts = endpoint('GET', '/posts', {
  access: 'public',
  cache: { unless: { filter: 'liked' } },
  summary: 'The wall, one owner’s posts, or what the viewer liked; newest first',
  query: strictObject({
    ...pageQuery,
    userId: Type.Optional(described(Id, 'Only posts of this user')),
    filter: Type.Optional(
      Type.Enum(['all', 'liked'], { description: '`liked`: only what the viewer liked' }),
    ),
  }),
  answer: PostPage,
  errors: ['INVALID_REQUEST'],
})

export const readPost = endpoint('GET', '/posts/:id', {
  access: 'public',
  cache: {},
  summary: 'One post, with the post it answers',
  params: IdParams,
  answer: Post,
  errors: ['POST_NOT_FOUND'],
})

export const createPost = endpoint('POST', '/posts', {
  access: 'user',
  publishes: true,
  summary: 'Publish a post on the wall',
  headers: IdempotencyHeaders,
  body: PostBody,
  status: 201,
  answer: Post,
  errors: ['POST_NOT_FOUND'],
})

export const editPost = endpoint('PATCH', '/posts/:id', {
  access: 'user',
  publishes: true,
  summary: 'Change the text of one’s own post within the edit period',
  params: IdParams,
  body: PostBody,
  answer: Post,
  errors: ['POST_NOT_FOUND', 'EDIT_PERIOD_EXPIRED'],
})

export const clarifyPost = endpoint('POST', '/posts/:id/clarification', {
  access: 'user',
  publishes: true,
  summary: 'Reply to one’s own post after the edit period; the reply stands under it, once an hour',
  params: IdParams,
  headers: IdempotencyHeaders,
  body: PostBody,
  status: 201,
  answer: Post,
  errors: ['INVALID_REQUEST', 'POST_NOT_FOUND'],
})

export const removeClarification = endpoint('DELETE', '/posts/:id/clarification', {
  access: 'user',
  summary: 'Take the clarification from under one’s own post; it stays a reply',
  params: IdParams,
  answer: Post,
  errors: ['POST_NOT_FOUND'],
})

export const deletePost = endpoint('DELETE', '/posts/:id', {
  access: 'user',
  summary: 'Delete one’s own post; its replies stay',
  params: IdParams,
  errors: ['POST_NOT_FOUND'],
})

/** Returns the id of the post that a call has published or is about. */
export function postIdOf({ path }: Endpoint, params: unknown, answer: unknown): string | undefined {
  const hasId = typeof answer === 'object' && answer !== null && 'id' in answer
  if (hasId && path.startsWith('/posts')) return String(answer.id)
  return /posts\/:id/.test(path) ? (params as { id: string }).id : undefined
}
