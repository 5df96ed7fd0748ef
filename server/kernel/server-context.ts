import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { PublishChange } from './cache/change-feed.ts'
import type { Config } from './config/config.ts'
import type { Db } from './db/database.ts'
import type { Route } from './http/route.ts'
import type { RecordAccess } from './journal/journal.ts'
import type { Limits } from './limits/limits.ts'
import type { MailKinds } from './mail/send-mails.ts'
import type { MailTransport } from './mail/transport.ts'
import type { Jobs } from './queue/queue.ts'

/** What the server hands to each feature that registers itself. */
export type ServerContext = {
  config: Config
  key: (purpose: string) => Buffer
  log: FastifyBaseLogger
  db: Db
  /** With what the ids of feeds and structured data begin; see `storeAddresses`. */
  idBase: string
  /** How long a write of rows that many people share waits for a lock; see LOCK_WAIT_MS. */
  lockWaitMs: number
  /** The pool of jobs, whose statements may take an hour. */
  background: Db
  /** The HTTP server, for routes that are not endpoints of the contract. */
  http: FastifyInstance
  route: Route
  limits: Limits
  publishChange: PublishChange
  recordAccess: RecordAccess | undefined
  mail: MailTransport
  /** Resolves to whether the clock has run evenly for long enough to erase expired data. */
  mayErase: () => Promise<boolean>
}

/** What a feature does besides answering calls. */
export type BackgroundWork = {
  jobs?: Jobs
  mails?: MailKinds
  /** Each removes expired rows, and runs once an hour on the pool of jobs. */
  pruning?: ((db: Db) => Promise<unknown>)[]
}
