import { DECISION_OPEN_SECONDS } from '../../contract/constants.ts'
import { type Db, isRowId, type Queryable } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { appendToJournal } from '../journal/journal.ts'
import { restorePost } from '../likes/likes.service.ts'
import {
  type Archive,
  archivePost,
  lockArchived,
  lockToRemove,
  updateArchived,
} from '../posts/posts.service.ts'
import { addJob } from '../queue/queue.ts'
import { blockUser, replaceBlock, selectBlock } from './blocks.service.ts'
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
  /** Shown to the author; by default the most frequent reason of the reports. */
  reason?: string | undefined
  /** Blocks the author of a removed post for so many days, or without an end. */
  block?: { days: number | null } | undefined
  note?: string | undefined
  /** The order of an authority, for the journal. */
  order?: string | undefined
  /** Whether the author gets no mail, and the outcome is not shown to reporters as new. */
  isQuiet?: boolean
  /** Whether the author gets one mail about many removals, for which the caller calls `announceDecision`. */
  isOneOfMany?: boolean
  /** Whether it decides about open reports or an appeal, so that there must be some. */
  isAsked: boolean
  /** For how many days a removed post can be restored. */
  removedDays: number
}

/** A decision's id, and what it did: a post with very many likes comes back only in a while. */
export type Decided = { id: string; was: Subject['state']; isRestoring: boolean }

/**
 * Removes a post or lets it stand, decides all its open reports and its appeal so, and writes the journal. Throws
 * POST_NOT_FOUND where there is nothing to decide: no such post or, with `isAsked`, no open report and no appeal.
 */
export async function decide(tx: Queryable, decision: NewDecision): Promise<Decided> {
  const { postId, verdict, actor } = decision
  if (!isRowId(postId)) throw new AppError('POST_NOT_FOUND')
  const subject = await lockSubject(tx, postId)
  const open = await lockOpen(tx, postId)
  if (!subject || (decision.isAsked && open === 0)) throw new AppError('POST_NOT_FOUND')
  const reason = await reasonOf(tx, decision, subject)
  const details = await detailsOf(tx, decision, subject)
  if (verdict === 'remove') await remove(tx, decision, { ...subject, reason })
  const returned = verdict === 'keep' ? await bringBack(tx, postId, subject) : 'missing'
  const isRestoring = returned === 'restoring'
  const action =
    verdict === 'keep' && returned !== 'missing' ? DECISIONS.restore : DECISIONS[verdict]
  const entry = { actor, userId: subject.owner_id, postId, reason, details }
  const id = await appendToJournal(tx, { ...entry, action })
  await closeOpen(tx, postId, { id, verdict, isSeen: decision.isQuiet ?? false })
  // Who has lost the moderators' trust by this decision loses what their other reports hide, unless it is undone.
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
  return { id, was: subject.state, isRestoring }
}

/** Queues the mail to the author about a decision that can no longer be undone then; it may stand for so many removed posts. */
export function announceDecision(tx: Queryable, id: string, posts = 1): Promise<void> {
  return addJob(tx, 'announce-decision', { payload: { id, posts }, afterMs: FINAL_MS })
}

/** Locks a post where it is, published or archived, and its author against an erasure. Reports are locked after it. */
async function lockSubject(tx: Queryable, id: string): Promise<Subject | undefined> {
  if (!(await lockArchived(tx, id))) await lockToRemove(tx, id)
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

/** Archives a published post; one that is archived for the time being is marked as removed, and stays. */
async function remove(
  tx: Queryable,
  { postId, actor, removedDays }: NewDecision,
  { state, reason, is_restoring, has_left }: Subject,
): Promise<void> {
  const archive: Archive = { why: 'removed', reason, by: actor, days: removedDays }
  if (state === 'published') await archivePost(tx, postId, archive)
  if (state === 'hidden' || is_restoring || has_left) await updateArchived(tx, postId, archive)
}

async function bringBack(tx: Queryable, postId: string, { state }: Subject) {
  const isArchived = state === 'hidden' || state === 'removed'
  return isArchived ? restorePost(tx, postId) : 'missing'
}

async function detailsOf(
  tx: Queryable,
  { verdict, block, note, order }: NewDecision,
  { text, state, reason, owner_id, has_left }: Subject,
): Promise<DecisionDetails> {
  const isBlocking = verdict === 'remove' && block !== undefined
  return {
    text,
    // Where the author has left, an undo publishes the post, and it goes where the others are.
    was: has_left ? 'published' : state,
    archivedFor: reason,
    ...(isBlocking && { blockBefore: await selectBlock(tx, owner_id) }),
    ...(note !== undefined && { note }),
    ...(order !== undefined && { order }),
  }
}

/** Whether the author is notified of a decision: of a removal, also after they have left, and of what became of it. */
function isAnnounced(verdict: Verdict, { state, has_left }: Subject): boolean {
  return state === 'removed' || (verdict === 'remove' && (state !== 'deleted' || has_left))
}

/**
 * Undoes a moderator's own decision of the last ten seconds: post, reports, appeal and block are as before, except that
 * sessions stay closed. Throws DECISION_FINAL later, or the second time.
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
    // Nobody reports the post between the look for newer reports and the end of this transaction.
    await lockArchived(tx, postId)
    await undoPost(tx, decision, removedDays)
    await reopen(tx, id)
    if (details.blockBefore !== undefined) await replaceBlock(tx, userId, details.blockBefore)
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
  { action, post_id, details: { was, archivedFor } }: Decision,
  removedDays: number,
): Promise<void> {
  if (was === 'deleted') return
  if (action === DECISIONS.remove && was === 'published') {
    await restorePost(tx, post_id)
    return
  }
  const days = was === 'hidden' ? HIDDEN_DAYS : removedDays
  if (was === 'published') return
  const archive: Archive = { why: was, reason: archivedFor, by: 'undo', days }
  // A post that was kept may be back already, or still be on its way.
  if (await lockArchived(tx, post_id)) await updateArchived(tx, post_id, archive)
  else await archivePost(tx, post_id, archive)
}
