import type { Node } from '../../kernel/feature.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import { createBlockSpreading } from './blocks.service.ts'
import { createHidingReview } from './hiding.service.ts'
import { tellModerators } from './moderation.service.ts'

/** The jobs of moderation. */
export function moderationJobs({ db, background, config, key, publishChange }: Node): Jobs {
  const { moderatorEmails, reportsToHide } = config
  const nameKey = key('usernames')
  return {
    'spread-block': { run: createBlockSpreading(background, nameKey) },
    'review-hidden': { run: createHidingReview(background, { reportsToHide, publishChange }) },
    'tell-moderators': {
      everyMinutes: 5,
      run: () => db.transaction().execute((tx) => tellModerators(tx, moderatorEmails)),
    },
  }
}
