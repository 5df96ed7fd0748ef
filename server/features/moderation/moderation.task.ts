import type { PublishChange } from '../../kernel/cache/change.ts'
import type { Db } from '../../kernel/db/database.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import { createBlockSpreading } from './blocks.service.ts'
import { createHidingReview } from './hiding.service.ts'
import { tellModerators } from './moderation.service.ts'

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
    'spread-block': { run: createBlockSpreading(background, nameKey) },
    'review-hidden': { run: createHidingReview(background, rules) },
    'tell-moderators': {
      everyMinutes: 5,
      run: () => db.transaction().execute((tx) => tellModerators(tx, moderatorEmails)),
    },
  }
}
