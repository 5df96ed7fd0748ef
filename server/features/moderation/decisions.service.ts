import { DECISION_OPEN_SECONDS } from '../../../contract/constants.ts'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import type { LockedPost } from '../posts/hidden-posts.repository.ts'
import { hidePosts, lockPost, showPost } from '../posts/posts.service.ts'
import { lockBlock, selectBlock } from './blocks.repository.ts'
import { blockUser, undoBlock } from './blocks.service.ts'
import {
  DECISIONS,
  type Decision,
  type DecisionDetails,
  isUndone,
  lockRecentDecision,
  type Subject,
  selectSubject,
} from './decisions.repository.ts'
import { countReasons } from './queue.repository.ts'
import { closeOpen, lockOpen, reopen, type Verdict } from './report-states.repository.ts'

/** Hidden posts stay as long as the reports that have hidden them. */
export const HIDDEN_DAYS = 180
/** When a decision can no longer be undone. */
const FINAL_MS = (DECISION_OPEN_SECONDS + 1) * 1000
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
  note?: string | undefined
  /** The order of an authority, for the journal. */
  order?: string | undefined
  /** Whether the author gets no mail, and the outcome is not shown to reporters as new. */
  isQuiet?: boolean
  /** Whether the caller calls `announceDecision` once for many removals. */
  isOneOfMany?: boolean
  /** Whether there must be open reports or an appeal to decide about. */
  isAsked: boolean
  /** For how many days a removed post can be restored. */
  removedDays: number
}

export type Decided = { id: string; was: Subject['state'] }

/**
 * Removes or keeps a post, and decides its open reports and its appeal so. Throws POST_NOT_FOUND
 * without a post or, with `isAsked`, without an open report and an appeal; OWN_POST to its author.
 */
export async function decide(tx: Queryable, decision: NewDecision): Promise<Decided> {
  const { postId, verdict, actor } = decision
  if (!isRowId(postId)) throw new AppError('POST_NOT_FOUND')
  const subject = await lockSubject(tx, postId)
  const open = await lockOpen(tx, postId)
  if (!subject || (decision.isAsked && open === 0)) throw new AppError('POST_NOT_FOUND')
  if (subject.owner_id === decision.moderatorId) throw new AppError('OWN_POST')
  const reason = await reasonOf(tx, decision, subject)
  const details = await detailsOf(tx, decision, subject)
  if (verdict === 'remove') await remove(tx, decision, { ...subject, reason })
  const isReturned = verdict === 'keep' && (await restore(tx, postId, subject))
  const action = isReturned ? DECISIONS.restore : DECISIONS[verdict]
  const entry = { actor, userId: subject.owner_id, postId, reason, details }
  const id = await appendToJournal(tx, { ...entry, action })
  await closeOpen(tx, postId, { id, verdict, isSeen: decision.isQuiet ?? false })
  // Who loses the moderators' trust by this decision no longer hides other posts.
  if (verdict === 'keep') {
    await addJob(tx, 'review-hidden', { payload: {}, afterMs: FINAL_MS, key: 'review-hidden' })
  }
  const isTold = isAnnounced(verdict, subject)
  if (verdict === 'remove' && decision.block) {
    const { days } = decision.block
    const block = { userId: subject.owner_id, reason: reason ?? DEFAULT_REASON, days, by: actor }
    // The mail about the post names the block.
    await blockUser(tx, block, { isTold: !decision.isQuiet && !isTold })
  }
  if (isTold && !decision.isQuiet && !decision.isOneOfMany) await announceDecision(tx, id)
  return { id, was: subject.state }
}

/** Queues the mail for when nobody can undo the decision; it may stand for so many removals. */
export function announceDecision(tx: Queryable, id: string, posts = 1): Promise<void> {
  return addJob(tx, 'announce-decision', { payload: { id, posts }, afterMs: FINAL_MS })
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

async function remove(
  tx: Queryable,
  { postId, actor, removedDays }: NewDecision,
  { state, hidden_for, reason }: Subject,
): Promise<void> {
  if (state !== 'published' && hidden_for !== 'reported' && hidden_for !== 'left') return
  await hidePosts(tx, [postId], { why: 'removed', reason, by: actor, days: removedDays })
}

/** Returns whether the post was hidden by a moderator or by reports, and is visible again. */
async function restore(tx: Queryable, id: string, { hidden_for }: Subject): Promise<boolean> {
  return hidden_for !== 'left' && showPost(tx, { id, hidden_for })
}

async function detailsOf(
  tx: Queryable,
  { verdict, block, note, order }: NewDecision,
  { text, state, hidden_for, reason, owner_id }: Subject,
): Promise<DecisionDetails> {
  const isBlocking = verdict === 'remove' && block !== undefined
  // An undo restores the block before, which nobody else may change in between.
  if (isBlocking) await lockBlock(tx, owner_id)
  return {
    text,
    // When the author has left, an undo publishes the post, and it is hidden with the others.
    was: hidden_for === 'left' ? 'published' : state,
    archivedFor: reason,
    ...(isBlocking && { blockBefore: await selectBlock(tx, owner_id) }),
    ...(note !== undefined && { note }),
    ...(order !== undefined && { order }),
  }
}

/** Whether the author is notified: of a removal, even after leaving, and of what became of it. */
function isAnnounced(verdict: Verdict, { state, hidden_for }: Subject): boolean {
  const isSeen = state !== 'deleted' || hidden_for === 'left'
  return state === 'removed' || (verdict === 'remove' && isSeen)
}

/**
 * Undoes a moderator's own decision of the last ten seconds, except that sessions stay closed.
 * Throws DECISION_FINAL later, or the second time.
 */
export async function undoDecision(
  db: Db,
  { id, actor, removedDays }: { id: string; actor: string; removedDays: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const seconds = DECISION_OPEN_SECONDS
    const decision = isRowId(id) ? await lockRecentDecision(tx, { id, actor, seconds }) : undefined
    if (!decision || (await isUndone(tx, decision))) throw new AppError('DECISION_FINAL')
    const { user_id: userId, post_id: postId, details } = decision
    // Nobody reports the post between the check for newer reports and the end of this transaction.
    const post = await lockPost(tx, postId)
    if (post) await undoPost(tx, post, { decision, removedDays })
    await reopen(tx, id)
    const { blockBefore: before } = details
    if (before !== undefined) await undoBlock(tx, userId, { id, before })
    await appendToJournal(tx, {
      actor,
      action: DECISIONS.undo,
      userId,
      postId,
      details: { decision: id },
    })
  })
}

async function undoPost(
  tx: Queryable,
  post: LockedPost,
  { decision, removedDays }: { decision: Decision; removedDays: number },
): Promise<void> {
  const { was, archivedFor } = decision.details
  if (was === 'deleted' || post.hidden_for === 'deleted') return
  if (was === 'published') {
    if (decision.action === DECISIONS.remove) await showPost(tx, post)
    return
  }
  const [why, days] =
    was === 'hidden' ? (['reported', HIDDEN_DAYS] as const) : (['removed', removedDays] as const)
  await hidePosts(tx, [post.id], { why, reason: archivedFor, by: 'undo', days })
}
