import type { PublishChange } from '../../kernel/cache/change.ts'
import type { Db } from '../../kernel/db/database.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import { hasClosedAppeal } from './appeals.repository.ts'
import { selectBlock } from './blocks.repository.ts'
import { createBlockSpreading } from './blocks.service.ts'
import { DECISIONS, selectStandingDecision } from './decisions.repository.ts'
import { createHidingReview } from './hiding.service.ts'
import type { BlockMail, DecisionMail } from './moderation.mail.ts'
import { MAIL_LIFE_MS, tellModerators } from './moderation.service.ts'
import { selectEmail } from './moderators.repository.ts'

type Options = {
  db: Db
  /** The pool of jobs. */
  background: Db
  nameKey: Buffer
  moderatorEmails: string[]
  reportsToHide: number
  publishChange: PublishChange
}

/** The jobs of moderation. */
export function moderationJobs({
  db,
  background,
  nameKey,
  moderatorEmails,
  ...rules
}: Options): Jobs {
  return {
    'announce-decision': { run: createAnnouncing(db) },
    'announce-block': { run: createBlockAnnouncing(db) },
    'spread-block': { run: createBlockSpreading(background, nameKey) },
    'review-hidden': { run: createHidingReview(background, rules) },
    'tell-moderators': {
      everyMinutes: 5,
      run: () => db.transaction().execute((tx) => tellModerators(tx, moderatorEmails)),
    },
  }
}

/** What an author is told of a removal, and of a restoration. */
const OUTCOMES = {
  first: ['removed', 'restored'],
  onAppeal: ['appeal refused', 'appeal granted'],
} as const

/** Makes the job that tells an author of a decision that nobody can undo any more. */
function createAnnouncing(db: Db): (payload: { id: string; posts?: number }) => Promise<void> {
  return async ({ id, posts }) => {
    const decision = await selectStandingDecision(db, id)
    if (!decision) return
    const author = await selectEmail(db, decision.user_id)
    // The account was erased meanwhile.
    if (!author) return
    const [ofRemoval, ofReturn] = OUTCOMES[(await hasClosedAppeal(db, id)) ? 'onAppeal' : 'first']
    const isBlocking = decision.details.blockBefore !== undefined
    const block = isBlocking ? await selectBlock(db, decision.user_id) : null
    const mail: DecisionMail = {
      to: author.email,
      expiresAt: Date.now() + MAIL_LIFE_MS,
      outcome: decision.action === DECISIONS.remove ? ofRemoval : ofReturn,
      text: decision.details.text,
      reason: decision.reason,
      ...(block && { blockedUntil: block.until?.getTime() ?? null }),
      ...(posts !== undefined && { posts }),
    }
    await queueMail(db, 'send-decision-mail', { ...mail, key: `decision ${id}` })
  }
}

/** Makes the job that tells a user of a block by itself, unless it was ended meanwhile. */
function createBlockAnnouncing(db: Db): (payload: { userId: string }) => Promise<void> {
  return async ({ userId }) => {
    const [block, user] = await Promise.all([selectBlock(db, userId), selectEmail(db, userId)])
    if (!block || !user) return
    const mail: BlockMail = {
      to: user.email,
      expiresAt: Date.now() + MAIL_LIFE_MS,
      reason: block.reason,
      blockedUntil: block.until?.getTime() ?? null,
    }
    await queueMail(db, 'send-block-mail', mail)
  }
}
