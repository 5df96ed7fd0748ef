import type { PostState } from '../../../contract/moderation.ts'
import { isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { hidePosts, lockPost, showPost } from '../posts/posts.service.ts'
import { addressOf, mailBlock, placeBlock } from './blocks.service.ts'
import type { DecisionMail } from './moderation.mail.ts'
import { countReasons, type Subject, selectSubject } from './queue.repository.ts'
import { closeOpen, lockOpen, type Open, type Verdict } from './report-states.repository.ts'

const DEFAULT_REASON = 'Нарушение правил'

export type NewDecision = {
  postId: string
  verdict: Verdict
  actor: string
  /** The moderator who decides in the browser; an operator has none. */
  moderatorId?: string
  /** Shown to the author; by default the most frequent reason of the reports. */
  reason?: string | undefined
  /** Blocks the author of a removed post for so many days, or without an end. */
  block?: { days: number | null } | undefined
  /** Whether a visible post without reports is removed too. */
  unreported?: boolean
  note?: string | undefined
  /** The order of an authority, for the journal. */
  order?: string | undefined
  /** By default the author gets a mail, and reporters see a new outcome. */
  notifies?: 'reporters' | 'nobody'
  removedDays: number
}

export type Decided = {
  id: string
  /** The post's author. */
  userId: string
  was: PostState
  open: Open
  /** The mail about it to the author, if there is a reason for one. */
  mail: DecisionMail | undefined
}

/**
 * Decides about a post that has open reports or an open appeal, or removes a visible one that is
 * `unreported`. Throws POST_NOT_FOUND for any other; OWN_POST to its author.
 */
export async function decideWaiting(tx: Queryable, decision: NewDecision): Promise<Decided> {
  const decided = await decide(tx, decision)
  const { open, was } = decided
  const isAllowed = decision.unreported && decision.verdict === 'remove' && was === 'published'
  if (open.reports + open.appeals === 0 && !isAllowed) throw new AppError('POST_NOT_FOUND')
  return decided
}

/**
 * Removes or keeps any post, and decides its open reports and its appeal so. Throws POST_NOT_FOUND;
 * OWN_POST to its author.
 */
export async function decide(tx: Queryable, decision: NewDecision): Promise<Decided> {
  const { postId, verdict, actor, note, order, notifies } = decision
  const subject = isRowId(postId) ? await lockSubject(tx, postId) : undefined
  if (!subject) throw new AppError('POST_NOT_FOUND')
  const { owner_id: userId, text, state: was } = subject
  if (userId === decision.moderatorId) throw new AppError('OWN_POST')
  const open = await lockOpen(tx, postId)
  const reason = await reasonOf(tx, decision, subject)
  const action = await setState(tx, decision, { ...subject, reason })
  const details = { text, note, order }
  const id = await appendToJournal(tx, { actor, action, userId, postId, reason, details })
  await closeOpen(tx, postId, { verdict, isSeen: notifies === 'nobody' })
  // Who loses the moderators' trust by this decision no longer hides other posts.
  if (verdict === 'keep') await addJob(tx, 'review-hidden', { payload: {}, key: 'review-hidden' })
  const block = await blockAuthor(tx, decision, { userId, reason: reason ?? DEFAULT_REASON })
  const address = isAnnounced(verdict, subject) ? await addressOf(tx, userId) : undefined
  const outcome = OUTCOMES[open.appeals > 0 ? 'onAppeal' : 'first'][verdict]
  const until = block && { blockedUntil: block.until?.getTime() ?? null }
  const mail = address && { ...address, outcome, text, reason, ...until }
  if (mail && !notifies) await queueMail(tx, 'send-decision-mail', mail)
  // The mail about the post names the block.
  if (block && !mail && notifies !== 'nobody') await mailBlock(tx, userId, block)
  return { id, userId, was, open, mail }
}

/** Locks a post, and its author against an erasure. Reports are locked after it. */
async function lockSubject(tx: Queryable, id: string): Promise<Subject | undefined> {
  await lockPost(tx, id)
  return selectSubject(tx, id, { isAuthorKept: true })
}

async function reasonOf(
  tx: Queryable,
  { postId, verdict, reason }: NewDecision,
  subject: Subject,
): Promise<string | null> {
  if (reason !== undefined) return reason
  if (verdict === 'keep') return null
  if (subject.state === 'removed') return subject.reason
  return (await countReasons(tx, [postId]))[0]?.name ?? DEFAULT_REASON
}

/** Hides or shows the post where the verdict changes that. Returns the name of the act. */
async function setState(
  tx: Queryable,
  { postId, verdict, actor, removedDays }: NewDecision,
  { state, hidden_for, reason }: Subject,
): Promise<'post.remove' | 'post.keep' | 'post.restore'> {
  if (verdict === 'keep') {
    const isShown = hidden_for !== 'left' && (await showPost(tx, { id: postId, hidden_for }))
    return isShown ? 'post.restore' : 'post.keep'
  }
  if (state === 'published' || hidden_for === 'reported' || hidden_for === 'left') {
    await hidePosts(tx, [postId], { why: 'removed', reason, by: actor, days: removedDays })
  }
  return 'post.remove'
}

async function blockAuthor(
  tx: Queryable,
  { verdict, block, actor: by }: NewDecision,
  about: { userId: string; reason: string },
): Promise<{ reason: string; until: Date | null } | undefined> {
  if (verdict === 'keep' || !block) return undefined
  const until = await placeBlock(tx, { ...about, days: block.days, by })
  return { reason: about.reason, until }
}

/** Whether the author is notified: of a removal, even after leaving, and of what became of it. */
function isAnnounced(verdict: Verdict, { state, hidden_for }: Subject): boolean {
  const isSeen = state !== 'deleted' || hidden_for === 'left'
  return state === 'removed' || (verdict === 'remove' && isSeen)
}

/** What an author is told of a removal, and of a restoration. */
const OUTCOMES = {
  first: { remove: 'removed', keep: 'restored' },
  onAppeal: { remove: 'appeal refused', keep: 'appeal granted' },
} as const
