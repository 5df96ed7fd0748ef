import type { PostState } from '../../../contract/moderation.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { mailboxOf } from '../../kernel/mail/email-address.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { setHidden } from '../posts/hidden-posts.repository.ts'
import { lockPost } from '../posts/posts.service.ts'
import { lockUser } from '../sessions/sessions.repository.ts'
import { mailBlock, placeBlock } from './blocks.service.ts'
import type { DecisionMail } from './moderation.mail.ts'
import { type Subject, selectMainReason, selectSubject } from './queue.repository.ts'
import { closeOpen, lockOpen, type Verdict } from './report-states.repository.ts'

const DEFAULT_REASON = 'Нарушение правил'

export type NewDecision = {
  postId: string
  verdict: Verdict
  actor: string
  /** Whether a moderator decides, by the e-mail `actor`. */
  isModerator?: boolean
  /** The author sees it. By default it is the most frequent reason of the reports. */
  reason?: string | undefined
  /** Blocks the author of a removed post for `days`, or without an end if it is null. */
  block?: { days: number | null } | undefined
  /** Whether the decision may also remove a post without reports that is not removed yet. */
  unreported?: boolean
  /** Whether the decision may be about any post, even without open reports. */
  isAnyPost?: boolean
  note?: string | undefined
  /** The order of an authority, for the journal. */
  order?: string | undefined
  /** Limits the notices. By default the author gets a mail, and reporters see a new outcome. */
  notifies?: 'reporters' | 'nobody'
  removedDays: number
}

export type Decided = {
  id: string
  userId: string
  was: PostState
  /** The mail about the decision to the author; undefined if the author is not notified. */
  mail: DecisionMail | undefined
}

/**
 * Removes or keeps a post, and closes its open reports and appeal. Throws POST_NOT_FOUND if none is
 * open, unless `unreported` or `isAnyPost` allows that; throws OWN_POST to a moderator whose mailbox
 * is the author's.
 */
export async function decide(tx: Queryable, decision: NewDecision): Promise<Decided> {
  const { postId, verdict, actor, note, order, notifies } = decision
  const found = await selectSubject(tx, postId)
  // An account that leaves is locked before its posts too.
  const author = found && (await lockUser(tx, found.owner_id))
  await lockPost(tx, postId)
  const subject = await selectSubject(tx, postId)
  if (!subject || !author) throw new AppError('POST_NOT_FOUND')
  const { email } = author
  const { owner_id: userId, text, state: was } = subject
  if (decision.isModerator && mailboxOf(email) === mailboxOf(actor)) throw new AppError('OWN_POST')
  const open = await lockOpen(tx, postId)
  const isThere = was === 'published' || was === 'hidden'
  const isRemovable = decision.unreported && verdict === 'remove' && isThere
  if (open.reports + open.appeals === 0 && !isRemovable && !decision.isAnyPost) {
    throw new AppError('POST_NOT_FOUND')
  }
  const reason = await reasonOf(tx, decision, subject)
  const action = await setState(tx, decision, { ...subject, reason })
  const details = { text, note, order }
  const id = await appendToJournal(tx, { actor, action, userId, postId, reason, details })
  await closeOpen(tx, postId, { verdict, isSeen: notifies === 'nobody' })
  // A reporter who loses trust by this decision must no longer hide other posts.
  if (verdict === 'keep') await addJob(tx, 'review-hidden', { key: 'review-hidden' })
  const days = verdict === 'remove' ? decision.block?.days : undefined
  const about = { userId, reason: reason ?? DEFAULT_REASON, by: actor }
  const block = days === undefined ? undefined : await placeBlock(tx, { ...about, days })
  const outcome = OUTCOMES[open.appeals > 0 ? 'onAppeal' : 'first'][verdict]
  const until = block && { blockedUntil: block.until?.getTime() ?? null }
  const isSent = isAnnounced(verdict, subject)
  const mail = isSent ? { to: email, outcome, text, reason, ...until } : undefined
  if (mail && !notifies) await queueMail(tx, 'send-decision-mail', mail)
  // The mail about the post also states the block.
  const isTold = mail || notifies === 'nobody' || block?.isRepeated
  if (block && !isTold) await mailBlock(tx, userId, block)
  return { id, userId, was, mail }
}

async function reasonOf(
  tx: Queryable,
  { postId, verdict, reason }: NewDecision,
  subject: Subject,
): Promise<string | null> {
  if (reason !== undefined) return reason
  if (verdict === 'keep') return null
  if (subject.state === 'removed') return subject.reason
  return (await selectMainReason(tx, postId)) ?? DEFAULT_REASON
}

async function setState(
  tx: Queryable,
  { postId, verdict, actor, removedDays }: NewDecision,
  { state, hidden_for, reason }: Subject,
): Promise<'post.remove' | 'post.keep' | 'post.restore'> {
  if (verdict === 'keep') {
    if (hidden_for !== 'removed' && hidden_for !== 'reported') return 'post.keep'
    await setHidden(tx, [postId], null)
    return 'post.restore'
  }
  if (state === 'published' || hidden_for === 'reported' || hidden_for === 'left') {
    await setHidden(tx, [postId], { why: 'removed', reason, by: actor, days: removedDays })
  }
  return 'post.remove'
}

/** Whether the author is notified: of a removal, even after leaving, and of a later decision. */
function isAnnounced(verdict: Verdict, { state, hidden_for }: Subject): boolean {
  const isSeen = state !== 'deleted' || hidden_for === 'left'
  return state === 'removed' || (verdict === 'remove' && isSeen)
}

const OUTCOMES = {
  first: { remove: 'removed', keep: 'restored' },
  onAppeal: { remove: 'appeal refused', keep: 'appeal granted' },
} as const
