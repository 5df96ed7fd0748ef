import Type from 'typebox'
import { UNREAD_MAX } from './constants.ts'
import { described, endpoint, strictObject } from './endpoint.ts'
import { Count, Id, IdParams, PageQuery } from './fields.ts'
import { Post, PostPage } from './posts.ts'

export const ReceivedReply = strictObject({
  ...Post.properties,
  received_no: described(
    Count,
    'The number among all replies to and mentions of the recipient, in order of arrival',
  ),
  is_mention: Type.Optional(
    Type.Literal(true, {
      description: 'Set if it mentions the viewer, and does not reply to them',
    }),
  ),
})

export const ReceivedRepliesPage = strictObject({
  ...PostPage.properties,
  posts: Type.Array(ReceivedReply),
  seen: described(
    Count,
    'The `received_no` of the newest reply that the viewer has seen; 0 if there is none',
  ),
})
export type ReceivedRepliesPage = Type.Static<typeof ReceivedRepliesPage>

export const listReceivedReplies = endpoint('GET', '/posts/replies/received', {
  access: 'user',
  summary:
    'What others replied to the viewer, and where they mentioned them, newest first; `total` counts to 1000',
  query: PageQuery,
  answer: ReceivedRepliesPage,
  errors: ['INVALID_REQUEST'],
})

export const ReplySummary = strictObject({
  unread: Type.Integer({
    minimum: 0,
    maximum: UNREAD_MAX,
    description: `Replies that the viewer has not seen, counted to ${UNREAD_MAX}`,
  }),
  muted: Type.Array(Id, {
    description: 'Ids of the viewer’s own posts whose replies are muted: the newest hundred',
  }),
  wantsMail: Type.Boolean({ description: 'Whether mails about unseen replies come' }),
})

export const readReplySummary = endpoint('GET', '/users/current/received', {
  access: 'user',
  summary:
    'How many replies and mentions the viewer has not seen, up to 100, and of which posts they want no replies',
  answer: ReplySummary,
})

export const markRepliesSeen = endpoint('PUT', '/users/current/received', {
  access: 'user',
  summary: 'Move the mark of what was seen; it never moves back',
  body: strictObject({ seen: described(Count, 'The `received_no` of the newest reply seen') }),
})

export const setReplyMails = endpoint('PUT', '/users/current/reply-mails', {
  access: 'user',
  summary: 'Whether mails about unseen replies and mentions come',
  body: strictObject({ wantsMail: Type.Boolean() }),
})

export const mutePost = endpoint('PUT', '/posts/:id/muted', {
  access: 'user',
  summary: 'Receive no further replies to one’s own post',
  params: IdParams,
  errors: ['POST_NOT_FOUND'],
})

export const unmutePost = endpoint('DELETE', '/posts/:id/muted', {
  access: 'user',
  summary: 'Receive the replies to one’s own post again',
  params: IdParams,
  errors: ['POST_NOT_FOUND'],
})
