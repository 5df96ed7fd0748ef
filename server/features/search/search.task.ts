import type { Db } from '../../kernel/db/database.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import { buildSearchIndex } from './search.repository.ts'

/** A wall that had posts before it could be searched gets its index within minutes. */
export function searchJobs(db: Db): Jobs {
  return { 'build-search-index': { everyMinutes: 1, run: () => buildSearchIndex(db) } }
}
