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
import { closeOpenCases, lockOpenCases, type Verdict } from './report-states.repository.ts'

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
  /** The order of an authority, for the journal; it is the reason unless another is given. */
  order?: string | undefined
  /** Limits the notices. By default the author gets a mail, and reporters see a new outcome. */
  notifies?: 'reporters' | 'nobody'
  removedDays: number
}

export type DecisionResult = {
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
export async function decide(tx: Queryable, decision: NewDecision): Promise<DecisionResult> {
  const subject = await lockSubject(tx, decision.postId)
  requireDecidable(subject, decision)
  const applied = await applyVerdict(tx, decision, subject)
  await closeReports(tx, decision)
  const mail = await announce(tx, decision, { subject, ...applied })
  return { id: applied.id, userId: subject.owner_id, was: subject.state, mail }
}

/** A locked post with its author's address and the numbers of its open reports and appeals. */
type LockedSubject = Subject & { email: string; open: { reports: number; appeals: number } }
type AppliedDecision = { id: string; reason: string | null; block: PlacedBlock | undefined }
type PlacedBlock = Awaited<ReturnType<typeof placeBlock>>

/** Locks the author, the post and what is open about it, in this order. Throws POST_NOT_FOUND. */
async function lockSubject(tx: Queryable, postId: string): Promise<LockedSubject> {
  const unlocked = await selectSubject(tx, postId)
  // An account that leaves is locked before its posts too.
  const author = unlocked && (await lockUser(tx, unlocked.owner_id))
  await lockPost(tx, postId)
  // The post may have changed before it was locked.
  const subject = await selectSubject(tx, postId)
  if (!subject || !author) throw new AppError('POST_NOT_FOUND')
  return { ...subject, email: author.email, open: await lockOpenCases(tx, postId) }
}

function requireDecidable({ email, state, open }: LockedSubject, decision: NewDecision): void {
  const { actor, verdict } = decision
  if (decision.isModerator && mailboxOf(email) === mailboxOf(actor)) throw new AppError('OWN_POST')
  const isThere = state === 'published' || state === 'hidden'
  const isRemovable = decision.unreported && verdict === 'remove' && isThere
  if (open.reports + open.appeals === 0 && !isRemovable && !decision.isAnyPost) {
    throw new AppError('POST_NOT_FOUND')
  }
}

/** Sets the post's state, writes the decision to the journal, and places the block that is part of it. */
async function applyVerdict(
  tx: Queryable,
  decision: NewDecision,
  subject: LockedSubject,
): Promise<AppliedDecision> {
  const { postId, verdict, actor, note, order } = decision
  const { owner_id: userId, text } = subject
  const reason = await reasonOf(tx, decision, subject)
  const action = await setState(tx, decision, { ...subject, reason })
  const details = { text, note, order }
  const id = await appendToJournal(tx, { actor, action, userId, postId, reason, details })
  const days = verdict === 'remove' ? decision.block?.days : undefined
  const about = { userId, reason: reason ?? DEFAULT_REASON, by: actor }
  const block = days === undefined ? undefined : await placeBlock(tx, { ...about, days })
  return { id, reason, block }
}

async function closeReports(
  tx: Queryable,
  { postId, verdict, notifies }: NewDecision,
): Promise<void> {
  await closeOpenCases(tx, postId, { verdict, isSeen: notifies === 'nobody' })
  // A reporter who loses trust by this decision must no longer hide other posts.
  if (verdict === 'keep') await addJob(tx, 'review-hidden', { key: 'review-hidden' })
}

/** Queues a mail to the author, and returns the mail about the decision even if it is not queued. */
async function announce(
  tx: Queryable,
  { verdict, notifies }: NewDecision,
  { subject, reason, block }: AppliedDecision & { subject: LockedSubject },
): Promise<DecisionMail | undefined> {
  const { owner_id: userId, email: to, text, open } = subject
  const outcome = OUTCOMES[open.appeals > 0 ? 'onAppeal' : 'first'][verdict]
  const until = block && { blockedUntil: block.until?.getTime() ?? null }
  const mail = isAuthorNotified(verdict, subject)
    ? { to, outcome, text, reason, ...until }
    : undefined
  if (mail && !notifies) await queueMail(tx, 'send-decision-mail', mail)
  // The mail about the post also states the block.
  const isNotified = mail || notifies === 'nobody' || block?.isRepeated
  if (block && !isNotified) await mailBlock(tx, userId, block)
  return mail
}

async function reasonOf(
  tx: Queryable,
  { postId, verdict, reason, order }: NewDecision,
  subject: Subject,
): Promise<string | null> {
  if (reason !== undefined) return reason
  if (verdict === 'keep') return null
  if (order !== undefined) return `По требованию: ${order}`
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
function isAuthorNotified(verdict: Verdict, { state, hidden_for }: Subject): boolean {
  const isSeen = state !== 'deleted' || hidden_for === 'left'
  return state === 'removed' || (verdict === 'remove' && isSeen)
}

const OUTCOMES = {
  first: { remove: 'removed', keep: 'restored' },
  onAppeal: { remove: 'appeal refused', keep: 'appeal granted' },
} as const
