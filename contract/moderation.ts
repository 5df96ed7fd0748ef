import Type from 'typebox'
import {
  APPEAL_MAX,
  BLOCK_DAYS_MAX,
  MODERATION_NOTE_MAX,
  MODERATION_REASON_MAX,
  RECENT_POSTS_MAX,
} from './constants.ts'
import { described, endpoint, nullable, strictObject } from './endpoint.ts'
import { Count, Id, IdParams, line, UnixSeconds } from './fields.ts'
import { Post, writtenFields } from './posts.ts'

export const PostState = Type.Enum(['published', 'hidden', 'removed', 'deleted'], {
  description:
    'Reports make a post `hidden`, a moderator `removed`; a `deleted` post still has open reports',
})
export type PostState = Type.Static<typeof PostState>

const Reason = line(1, MODERATION_REASON_MAX)
const Note = line(0, MODERATION_NOTE_MAX)
const BlockDays = described(
  nullable(Type.Integer({ minimum: 1, maximum: BLOCK_DAYS_MAX })),
  'Null: until a moderator lifts the block',
)

const RemovesRecent = Type.Optional(
  Type.Literal(true, {
    description: `Also removes the author’s posts of the last day, at most ${RECENT_POSTS_MAX}`,
  }),
)

export const Block = strictObject({
  reason: Type.String(),
  until: described(
    nullable(UnixSeconds),
    'Seconds since 1970 in UTC; null: until a moderator lifts the block',
  ),
})
export type Block = Type.Static<typeof Block>

export const QueuedPost = strictObject({
  id: Id,
  /** As it is now; if the post is gone, the text that was last reported. */
  ...writtenFields,
  reportedText: described(
    nullable(Type.String()),
    'The text that was reported, if the author has changed it since',
  ),
  createdAt: UnixSeconds,
  state: PostState,
  author: strictObject({
    id: Id,
    username: Type.String(),
    createdAt: UnixSeconds,
    posts: Count,
    removed: described(Count, 'Posts that moderators have removed'),
    recent: described(
      Count,
      `Posts of the last day that can be removed now, at most ${RECENT_POSTS_MAX}`,
    ),
    block: nullable(Block),
  }),
  since: described(
    UnixSeconds,
    'When the post began to wait for a decision; its publication time if it does not wait',
  ),
  reporters: described(Count, 'How many people have reported it'),
  reasons: Type.Array(strictObject({ name: Type.String(), count: Count })),
  comments: Type.Array(Type.String()),
  appeal: nullable(
    strictObject({ text: Type.String(), createdAt: UnixSeconds, removedFor: Type.String() }),
  ),
  thread: described(
    strictObject({ before: Type.Array(Post), replies: Type.Array(Post) }),
    'Visible posts around it: the first post of the thread, the replied post, the first replies',
  ),
})
export type QueuedPost = Type.Static<typeof QueuedPost>

export const readQueue = endpoint('GET', '/moderation/queue', {
  access: 'moderator',
  summary:
    'The posts that wait for a decision, by author, first those with an appeal, then by wait; at most 20 of `total`',
  answer: strictObject({
    posts: Type.Array(QueuedPost),
    total: Count,
    appeals: described(Count, 'How many of `total` have an appeal'),
  }),
})

export const readModeratedPost = endpoint('GET', '/moderation/posts/:id', {
  access: 'moderator',
  summary: 'A post that is visible or waits for a decision, as in the queue',
  params: IdParams,
  answer: QueuedPost,
  errors: ['POST_NOT_FOUND'],
})

export const readWallState = endpoint('GET', '/moderation/state', {
  access: 'moderator',
  summary:
    'Whether mail, backups, disk, database and version are well, in Russian, with the command that mends what is not',
  answer: strictObject({
    lines: Type.Array(
      strictObject({
        name: Type.String(),
        level: Type.Enum(['ok', 'warning', 'broken']),
        message: Type.String(),
        fix: nullable(Type.String()),
      }),
    ),
  }),
})

export const decide = endpoint('POST', '/moderation/posts/:id/decision', {
  access: 'moderator',
  summary: 'Decide all open reports of a post and its appeal at once',
  params: IdParams,
  body: strictObject({
    verdict: Type.Enum(['remove', 'keep'], {
      description:
        '`keep` shows a post that reports have hidden, and a removed one if its author has appealed',
    }),
    reason: Type.Optional(
      described(
        Reason,
        'The author sees it. By default it is the most frequent reason of the reports',
      ),
    ),
    block: Type.Optional(
      described(
        strictObject({ days: BlockDays, removesRecent: RemovesRecent }),
        'Also blocks the author, as `PUT /moderation/users/{id}/block`',
      ),
    ),
    unreported: Type.Optional(
      Type.Literal(true, {
        description: 'May also remove a visible post that does not wait for a decision',
      }),
    ),
    note: Type.Optional(described(Note, 'Only for moderators')),
  }),
  errors: ['POST_NOT_FOUND', 'OWN_POST'],
})

export const blockUser = endpoint('PUT', '/moderation/users/:id/block', {
  access: 'moderator',
  summary: 'Close a user’s sessions and let them publish nothing, in place of an earlier block',
  params: IdParams,
  body: strictObject({ reason: Reason, days: BlockDays, removesRecent: RemovesRecent }),
  errors: ['USER_NOT_FOUND', 'OWN_POST'],
})

export const unblockUser = endpoint('DELETE', '/moderation/users/:id/block', {
  access: 'moderator',
  summary: 'Take a block back; without one nothing changes',
  params: IdParams,
  errors: ['USER_NOT_FOUND'],
})

export const OwnReport = strictObject({
  id: Id,
  postId: Id,
  postText: Type.String({
    description: 'The text as it was reported; empty if the author has deleted the post',
  }),
  reason: Type.String(),
  comment: nullable(Type.String()),
  createdAt: UnixSeconds,
  outcome: Type.Enum(['open', 'removed', 'kept']),
  decidedAt: nullable(UnixSeconds),
  isNew: Type.Boolean({ description: 'Whether the viewer has not seen the outcome yet' }),
})
export type OwnReport = Type.Static<typeof OwnReport>

export const listOwnReports = endpoint('GET', '/users/current/reports', {
  access: 'user',
  summary: 'The viewer’s newest 50 reports with their outcomes',
  answer: strictObject({ reports: Type.Array(OwnReport) }),
})

export const markReportsSeen = endpoint('PUT', '/users/current/reports/seen', {
  access: 'user',
  summary: 'Mark the outcomes of the viewer’s reports as seen',
})

export const OwnRemovedPost = strictObject({
  id: Id,
  text: Type.String(),
  createdAt: UnixSeconds,
  state: Type.Enum(['removed', 'hidden']),
  removedAt: UnixSeconds,
  reason: Type.String(),
  until: described(UnixSeconds, 'When the post is deleted for good; seconds since 1970 in UTC'),
  appeal: described(
    nullable(strictObject({ text: Type.String(), state: Type.Enum(['open', 'refused']) })),
    'Null if the author has not appealed',
  ),
})
export type OwnRemovedPost = Type.Static<typeof OwnRemovedPost>

export const listOwnRemovedPosts = endpoint('GET', '/users/current/removed-posts', {
  access: 'user',
  summary: 'The viewer’s posts and replies that a moderator has removed, at most 50, newest first',
  answer: strictObject({ posts: Type.Array(OwnRemovedPost) }),
})

export const appeal = endpoint('POST', '/users/current/removed-posts/:id/appeal', {
  access: 'user',
  summary: 'Object to the removal of one’s own post, once',
  params: IdParams,
  body: strictObject({ text: Type.String({ minLength: 1, maxLength: APPEAL_MAX }) }),
  errors: ['INVALID_REQUEST', 'POST_NOT_FOUND', 'ALREADY_APPEALED'],
})
