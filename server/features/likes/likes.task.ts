import type { Db } from '../../kernel/db/database.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import { moveLikes } from './likes.service.ts'

/** The jobs of likes, on the pool of jobs. */
export const likeJobs = (db: Db): Jobs => ({
  'move-likes': { everyMinutes: 1, run: (_, { stopping }) => moveLikes(db, stopping) },
})
