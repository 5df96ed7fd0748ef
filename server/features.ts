import type { CodesOptions } from './codes/codes.service.ts'
import type { Config } from './config.ts'
import type { Db } from './db/database.ts'
import type { Route } from './http/route.ts'
import type { Limits } from './rate-limits/rate-limits.ts'
import type { ResponseCache } from './response-cache/response-cache.ts'
import type { Sessions } from './sessions/sessions.service.ts'

/** What app.ts hands to each feature's routes. */
export type Features = {
  route: Route
  db: Db
  config: Config
  limits: Limits
  sessions: Sessions
  codes: CodesOptions
  /** Derives the secrets of links that undo an e-mail change. */
  undoKey: Buffer
  /** To be awaited after a commit that changed what others read, and before its answer: no node shows the old then. */
  changed: ResponseCache['publishChange']
  readAsVisitor: ResponseCache['readAsVisitor']
}
