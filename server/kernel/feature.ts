import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { PublishChange } from './cache/change-feed.ts'
import type { Config } from './config/config.ts'
import type { Db } from './db/database.ts'
import type { Route } from './http/route.ts'
import type { NoteAccess } from './journal/journal.ts'
import type { Limits } from './limits/limits.ts'
import type { MailKinds } from './mail/send-mails.ts'
import type { MailTransport } from './mail/transport.ts'
import type { Jobs } from './queue/queue.ts'

/** The parts of the node that every feature uses. */
export type Node = {
  config: Config
  /** Derives the key for a purpose from APP_SECRET. */
  key: (purpose: string) => Buffer
  log: FastifyBaseLogger
  /** The pool of requests. */
  db: Db
  /** The pool of jobs, whose statements may take an hour. */
  background: Db
  /** For routes that no endpoint of the contract describes. */
  http: FastifyInstance
  route: Route
  limits: Limits
  publishChange: PublishChange
  noteAccess: NoteAccess | undefined
  mail: MailTransport
  /** Returns whether the clock has run evenly for long enough to erase what has expired. */
  mayErase: () => Promise<boolean>
}

/** The jobs, mails and pruning of a feature. */
export type Feature = {
  jobs?: Jobs
  mails?: MailKinds
  /** Remove rows that have expired; run each hour on the pool of jobs. */
  pruning?: ((db: Db) => Promise<unknown>)[]
}
