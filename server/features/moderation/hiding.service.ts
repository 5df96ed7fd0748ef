import type { PublishChange } from '../../kernel/cache/change-feed.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import { appendToJournal, countActs } from '../../kernel/journal/journal.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { markExpired } from '../posts/hidden-posts.repository.ts'
import { hidePosts, lockPost, showPost } from '../posts/posts.service.ts'
import { selectSubject } from './queue.repository.ts'
import {
  countTrustedReporters,
  lockHidings,
  selectDoubtfullyHidden,
  UNDER_APPEAL,
} from './report-states.repository.ts'

/** Hidden posts stay as long as the reports that have hidden them. */
const HIDDEN_DAYS = 180
/** Reports hide so many posts of the wall in an hour; a moderator decides about the others. */
const HIDINGS_PER_HOUR = 10
const HOUR_SECONDS = 3600
const ACTOR = 'vslukh'

export type HidingRules = {
  /** Reports by so many people hide a post; 0: never. */
  reportsToHide: number
  rateLimitScale: number
}

/**
 * Hides a locked post that enough people have reported, unless too many posts were hidden within
 * the hour: `isNews` when this is the first.
 */
export async function hideIfReported(
  tx: Queryable,
  postId: string,
  { reportsToHide, rateLimitScale }: HidingRules,
): Promise<{ isHidden: boolean; isNews?: boolean }> {
  if (reportsToHide === 0) return { isHidden: false }
  await lockHidings(tx)
  const reporters = await countTrustedReporters(tx, postId)
  const subject = reporters >= reportsToHide ? await selectSubject(tx, postId) : undefined
  if (!subject) return { isHidden: false }
  const hidings = await countActs(tx, 'post.hide', HOUR_SECONDS)
  if (hidings >= HIDINGS_PER_HOUR * rateLimitScale) {
    const isNews = (await countActs(tx, 'hiding.stop', HOUR_SECONDS)) === 0
    if (isNews) await appendToJournal(tx, { actor: ACTOR, action: 'hiding.stop', postId })
    return { isHidden: false, isNews }
  }
  await hidePosts(tx, [postId], { why: 'reported', reason: null, by: ACTOR, days: HIDDEN_DAYS })
  const details = { text: subject.text, reporters }
  const userId = subject.owner_id
  await appendToJournal(tx, { actor: ACTOR, action: 'post.hide', userId, postId, details })
  return { isHidden: true }
}

/**
 * Shows posts again of which a reporter has lost the moderators' trust. Their reports stay open.
 */
export async function reviewHidden(
  db: Db,
  { reportsToHide, publishChange }: { reportsToHide: number; publishChange: PublishChange },
): Promise<void> {
  for (const postId of await selectDoubtfullyHidden(db)) {
    const isShown = await db.transaction().execute(async (tx) => {
      const post = await lockPost(tx, postId)
      if (post?.hidden_for !== 'reported') return false
      const reporters = await countTrustedReporters(tx, postId)
      if (reporters >= reportsToHide) return false
      await showPost(tx, post)
      const details = { text: post.text, reporters }
      const userId = post.owner_id
      await appendToJournal(tx, { actor: ACTOR, action: 'post.unhide', userId, postId, details })
      return true
    })
    if (isShown) await publishChange({ kind: 'edited', postId })
  }
}

/** Purges hidden posts whose time is up, unless somebody still has to decide about an appeal. */
export async function purgeExpiredPosts(db: Queryable): Promise<void> {
  await markExpired(db, UNDER_APPEAL)
  await addJob(db, 'move-likes', { payload: {} })
}
