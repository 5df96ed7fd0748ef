import type { Db } from '../db/database.ts'
import { queueMail } from '../mail/queue-mail.ts'
import { selectStandingDecision } from './decisions.repository.ts'
import type { DecisionMail } from './moderation.mail.ts'
import { MAIL_LIFE_MS } from './moderation.service.ts'
import { selectEmail } from './moderators.repository.ts'

/** Makes the job that tells an author of a decision once nobody can undo it any more. An undone decision is not announced. */
export function createAnnouncing(db: Db): (payload: { id: string }) => Promise<void> {
  return async ({ id }) => {
    const decision = await selectStandingDecision(db, id)
    if (!decision) return
    const author = await selectEmail(db, decision.user_id)
    // The account was deleted meanwhile.
    if (!author) return
    const { was, text } = decision.details
    const isRemoval = decision.action === 'post.remove'
    const mail: DecisionMail = {
      to: author.email,
      expiresAt: Date.now() + MAIL_LIFE_MS,
      outcome: was !== 'removed' ? 'removed' : isRemoval ? 'appeal refused' : 'appeal granted',
      text,
      reason: decision.reason,
    }
    await queueMail(db, 'send-decision-mail', { ...mail, key: `decision ${id}` })
  }
}
