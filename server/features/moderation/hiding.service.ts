import type { PublishChange } from '../../kernel/cache/change-feed.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import { appendToJournal, countActs } from '../../kernel/journal/journal.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { type LockedPost, markExpiredPosts, setHidden } from '../posts/hidden-posts.repository.ts'
import { lockPost } from '../posts/posts.service.ts'
import { queueMailToEach, tellModerators } from './moderation.service.ts'
import {
  countTrustedReporters,
  selectDoubtfullyHidden,
  UNDER_APPEAL,
} from './report-states.repository.ts'

/** Hidden posts are kept as long as their reports. */
const HIDDEN_DAYS = 180
/** The most posts that reports hide in an hour; a moderator decides about all others. */
const HIDINGS_PER_HOUR = 10
const HOUR_SECONDS = 3600
const ACTOR = 'vslukh'

/** Mails the moderators, and hides a post that enough people reported. Returns whether it did. */
export async function applyReportRules(
  tx: Queryable,
  { id: postId, owner_id: userId, text }: Pick<LockedPost, 'id' | 'owner_id' | 'text'>,
  rules: Pick<Config, 'moderatorEmails' | 'reportsToHide' | 'rateLimitScale'>,
): Promise<boolean> {
  const { moderatorEmails, reportsToHide, rateLimitScale } = rules
  await tellModerators(tx, moderatorEmails)
  if (reportsToHide === 0) return false
  const reporters = await countTrustedReporters(tx, postId)
  if (reporters < reportsToHide) return false
  const hidings = await countActs(tx, 'post.hide', HOUR_SECONDS)
  if (hidings >= HIDINGS_PER_HOUR * rateLimitScale) {
    if ((await countActs(tx, 'hiding.stop', HOUR_SECONDS)) > 0) return false
    await appendToJournal(tx, { actor: ACTOR, action: 'hiding.stop', postId })
    await queueMailToEach(tx, moderatorEmails, { isHidingStopped: true })
    return false
  }
  await setHidden(tx, [postId], { why: 'reported', reason: null, by: ACTOR, days: HIDDEN_DAYS })
  const details = { text, reporters }
  await appendToJournal(tx, { actor: ACTOR, action: 'post.hide', userId, postId, details })
  return true
}

/** Shows hidden posts again that have too few trusted reporters now. */
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
      await setHidden(tx, [postId], null)
      const details = { text: post.text, reporters }
      const userId = post.owner_id
      await appendToJournal(tx, { actor: ACTOR, action: 'post.unhide', userId, postId, details })
      return true
    })
    if (isShown) await publishChange({ kind: 'edited', postId })
  }
}

/** Erases expired hidden posts, except posts with an open appeal. */
export async function purgeExpiredPosts(db: Queryable): Promise<void> {
  await markExpiredPosts(db, UNDER_APPEAL)
  await addJob(db, 'purge-posts')
}
