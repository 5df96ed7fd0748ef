import Type from 'typebox'
import {
  APPEAL_MAX,
  BLOCK_DAYS_MAX,
  MODERATION_NOTE_MAX,
  MODERATION_REASON_MAX,
} from './constants.ts'
import { endpoint, nullable, strictObject } from './endpoint.ts'
import { Count, Id, IdParams, line, UnixSeconds } from './fields.ts'
import { Post, writtenFields } from './posts.ts'

/** Reports make a post `hidden`, a moderator `removed`; a `deleted` post still has open reports. */
export const PostState = Type.Enum(['published', 'hidden', 'removed', 'deleted'])
export type PostState = Type.Static<typeof PostState>

const Reason = line(1, MODERATION_REASON_MAX)
const Note = line(0, MODERATION_NOTE_MAX)
/** Null means that the block lasts until a moderator lifts it. */
const BlockDays = nullable(Type.Integer({ minimum: 1, maximum: BLOCK_DAYS_MAX }))

/** Set if the call also removes the author's posts of the last day, at most RECENT_POSTS_MAX. */
const RemovesRecent = Type.Optional(Type.Literal(true))

export const Block = strictObject({ reason: Type.String(), until: nullable(UnixSeconds) })
export type Block = Type.Static<typeof Block>

export const QueuedPost = strictObject({
  id: Id,
  /** As it is now; if the post is gone, the text that was last reported. */
  ...writtenFields,
  /** The text that was reported, if the author has changed it since. */
  reportedText: nullable(Type.String()),
  createdAt: UnixSeconds,
  state: PostState,
  author: strictObject({
    id: Id,
    username: Type.String(),
    createdAt: UnixSeconds,
    posts: Count,
    removed: Count,
    /** Posts of the last day that can be removed now, at most RECENT_POSTS_MAX. */
    recent: Count,
    block: nullable(Block),
  }),
  /** When the post began to wait for a decision; its publication time if it does not wait. */
  since: UnixSeconds,
  reporters: Count,
  reasons: Type.Array(strictObject({ name: Type.String(), count: Count })),
  comments: Type.Array(Type.String()),
  appeal: nullable(
    strictObject({ text: Type.String(), createdAt: UnixSeconds, removedFor: Type.String() }),
  ),
  /** Visible posts around it: the first post of the thread, the replied post, the first replies. */
  thread: strictObject({ before: Type.Array(Post), replies: Type.Array(Post) }),
})
export type QueuedPost = Type.Static<typeof QueuedPost>

export const readQueue = endpoint('GET', '/moderation/queue', {
  access: 'moderator',
  summary:
    'The posts that wait for a decision, by author, first those with an appeal, then by wait; at most 20 of `total`',
  /** `appeals` counts those of `total` that have one. */
  answer: strictObject({ posts: Type.Array(QueuedPost), total: Count, appeals: Count }),
})

export const readModeratedPost = endpoint('GET', '/moderation/posts/:id', {
  access: 'moderator',
  summary: 'A post that is visible or waits for a decision, as in the queue',
  params: IdParams,
  answer: QueuedPost,
  errors: ['POST_NOT_FOUND'],
})

export const decide = endpoint('POST', '/moderation/posts/:id/decision', {
  access: 'moderator',
  summary: 'Decide all open reports of a post and its appeal at once',
  params: IdParams,
  body: strictObject({
    verdict: Type.Enum(['remove', 'keep']),
    /** The author sees it. By default it is the most frequent reason of the reports. */
    reason: Type.Optional(Reason),
    block: Type.Optional(strictObject({ days: BlockDays, removesRecent: RemovesRecent })),
    /** Set if the call may also remove a visible post that does not wait for a decision. */
    unreported: Type.Optional(Type.Literal(true)),
    note: Type.Optional(Note),
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
  /** The text as it was reported; empty if the author has deleted the post. */
  postText: Type.String(),
  reason: Type.String(),
  comment: nullable(Type.String()),
  createdAt: UnixSeconds,
  outcome: Type.Enum(['open', 'removed', 'kept']),
  decidedAt: nullable(UnixSeconds),
  isNew: Type.Boolean(),
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
  /** When the post is deleted for good. */
  until: UnixSeconds,
  /** Null if the author has not appealed. */
  appeal: nullable(strictObject({ text: Type.String(), state: Type.Enum(['open', 'refused']) })),
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
