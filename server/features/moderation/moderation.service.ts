import type { Answer } from '../../../contract/endpoint.ts'
import type * as calls from '../../../contract/moderation.ts'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { readPosts } from '../posts/hydrate-posts.ts'
import { withoutRemoved } from './moderators.repository.ts'
import { selectWaitingIds, selectWaitingPosts } from './queue.repository.ts'
import { claimModeratorMail } from './report-states.repository.ts'

const QUEUE_PAGE = 20

export async function readQueue(
  db: Queryable,
  limit = QUEUE_PAGE,
  offset = 0,
): Promise<Answer<typeof calls.readQueue>> {
  const { ids, ...counts } = await selectWaitingIds(db, limit, offset)
  return { posts: await readWaiting(db, ids), ...counts }
}

export async function readWaitingPost(db: Queryable, id: string): Promise<QueuedPost | undefined> {
  const [post] = isRowId(id) ? await readWaiting(db, [id]) : []
  return post && isWaiting(post) ? post : undefined
}

/** Throws POST_NOT_FOUND unless the post is visible or waits for a decision. */
export async function readModeratedPost(db: Queryable, id: string): Promise<QueuedPost> {
  const [post] = isRowId(id) ? await readWaiting(db, [id]) : []
  if (!post || !(post.state === 'published' || isWaiting(post))) {
    throw new AppError('POST_NOT_FOUND')
  }
  return post
}

const isWaiting = ({ reporters, appeal }: QueuedPost) => reporters > 0 || appeal !== null

async function readWaiting(db: Queryable, ids: string[]): Promise<QueuedPost[]> {
  const waiting = await selectWaitingPosts(db, ids)
  const around = waiting.flatMap(({ before, replies }) => [...before, ...replies])
  const read = await readPosts(db, [...new Set(around)], null)
  const byId = new Map(read.map((post) => [post.id, post]))
  const find = (wanted: string[]) => wanted.flatMap((id) => byId.get(id) ?? [])
  return waiting.map(({ before, replies, ...post }) => ({
    ...post,
    thread: { before: find(before), replies: find(replies) },
  }))
}

/** Queues a mail for each address, unless a moderator with that address was removed. */
export async function queueMailToEach(
  tx: Queryable,
  emails: string[],
  about: { isHidingStopped?: true } = {},
): Promise<void> {
  for (const to of await withoutRemoved(tx, emails)) {
    const key = `${about.isHidingStopped ? 'hiding stopped' : 'queue'} ${to}`
    await queueMail(tx, 'send-queue-mail', { to, key, ...about })
  }
}

/** Queues a mail to each of the moderators: at most one an hour, and none if nothing is new. */
export async function tellModerators(tx: Queryable, emails: string[]): Promise<void> {
  if (emails.length > 0 && (await claimModeratorMail(tx))) await queueMailToEach(tx, emails)
}
