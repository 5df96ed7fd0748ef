import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { AppOptions } from './app-parts.ts'
import {
  deletionFolders,
  noteDeletions,
} from './features/account-deletion/deletion-list.service.ts'
import { moveAccounts } from './features/account-deletion/move-accounts.task.ts'
import { moveLikes } from './features/likes/likes.service.ts'
import { createBlockSpreading } from './features/moderation/blocks.service.ts'
import { createHidingReview } from './features/moderation/hiding.service.ts'
import { tellModerators } from './features/moderation/moderation.service.ts'
import { createAnnouncing, createBlockAnnouncing } from './features/moderation/moderation.task.ts'
import { findCounterDifferences } from './features/posts/counters.task.ts'
import { deriveKey } from './kernel/config/app-secret.ts'
import type { Config } from './kernel/config/config.ts'
import { databaseTime } from './kernel/db/clock.ts'
import type { Db } from './kernel/db/database.ts'
import { type Outage, quietDuringOutages } from './kernel/db/outage.ts'
import { createSteadyClock } from './kernel/db/steady-clock.ts'
import { removeOldAccesses } from './kernel/journal/access-journal.ts'
import { MAIL_LOG_KEY } from './kernel/mail/mail-log.repository.ts'
import { removeOldMails } from './kernel/mail/old-mails.ts'
import { type QueuedMail, queueMail, SENDING } from './kernel/mail/queue-mail.ts'
import { createSending } from './kernel/mail/send-mails.ts'
import type { MailTransport } from './kernel/mail/transport.ts'
import type { JobTasks } from './kernel/queue/queue.ts'
import type { RecurringJob } from './kernel/queue/recurring-jobs.ts'
import { createMailKinds } from './mail-tasks.ts'
import { createNightlyBackup } from './operations/backup/nightly-backup.task.ts'
import { storeCounterCheck } from './operations/status/status.repository.ts'
import { removeExpired } from './prune.task.ts'

type Options = {
  config: Config
  db: Db
  /** The background pool, whose statements may take as long as they need. */
  backgroundDb: Db
  /** URL of the database for a connection that keeps a state of its own. */
  directUrl: string
  secret: string
  log: FastifyBaseLogger
  outage: Outage
  codeKey: Buffer
  undoKey: Buffer
  nameKey: Buffer
  transport: MailTransport
  /** Counts a mail as one of its hour's; resolves to the milliseconds to wait where those are used up. */
  chargeMail: (isUrgent: boolean) => Promise<number>
  settleMs?: AppOptions['settleMs']
  /** Invalidates cached reads on every node. */
  invalidate: () => Promise<void>
}

const HOUR = 60
const DAY = 24 * HOUR

export const RECURRING: RecurringJob[] = [
  ...[SENDING, 'move-likes', 'move-accounts'].map((task) => every(1, task)),
  every(5, 'tell-moderators'),
  every(HOUR, 'remove-expired', 17),
  every(HOUR, 'remove-old-traces', 27),
  every(DAY, 'check-counters', 2 * HOUR + 40),
]

function every(everyMinutes: number, task: string, atMinute = 0): RecurringJob {
  return { task, everyMinutes, atMinute }
}

/** Returns the recurring jobs, the nightly backup among them where there is one. */
export function recurringJobs({ backupDir, backupAt }: Pick<Config, 'backupDir' | 'backupAt'>) {
  const { hour, minute } = backupAt
  return backupDir === undefined
    ? RECURRING
    : [...RECURRING, every(DAY, 'back-up', hour * HOUR + minute)]
}

/** Every job of the product by its name. */
export function createTasks(options: Options): JobTasks {
  const { config, db, backgroundDb, directUrl, secret, log, nameKey, outage, invalidate } = options
  const { moderatorEmail, backupDir, backupKeep: keep } = config
  const kinds = createMailKinds(options)
  const mayErase = createSteadyClock({
    readTime: () => databaseTime(backgroundDb),
    log,
    settleMs: options.settleMs,
  })
  return {
    ...(backupDir !== undefined && {
      'back-up': createNightlyBackup({
        db: backgroundDb,
        url: directUrl,
        folder: backupDir,
        dataDir: config.dataDir,
        keep,
        secret,
        log,
      }),
    }),
    [SENDING]: createSending({
      db,
      kinds,
      transport: options.transport,
      charge: options.chargeMail,
      logKey: deriveKey(secret, MAIL_LOG_KEY),
      log: quietDuringOutages(log, outage),
      outage,
    }),
    ...movingIntoOutbox(db, Object.keys(kinds)),
    'announce-decision': createAnnouncing(db),
    'tell-moderators': () => db.transaction().execute((tx) => tellModerators(tx, moderatorEmail)),
    'spread-block': createBlockSpreading(backgroundDb, nameKey),
    'announce-block': createBlockAnnouncing(db),
    'review-hidden': createHidingReview(backgroundDb, {
      reportsToHide: config.reportsToHide,
      invalidate,
    }),
    'move-likes': (_, { abortPromise }) => moveLikes(backgroundDb, abortPromise as Promise<never>),
    async 'move-accounts'(_, { abortPromise }) {
      await noteDeletions(backgroundDb, deletionFolders(config), (err) =>
        log.error({ err }, 'a deleted account was not noted beside the backups'),
      )
      const stopping = abortPromise as Promise<never>
      await moveAccounts(backgroundDb, { nameKey, mayErase, stopping, invalidate })
    },
    async 'remove-old-traces'() {
      if (!(await mayErase())) return
      await removeOldMails(join(config.dataDir, 'mail'))
      await removeOldAccesses(backgroundDb, config.accessJournalDays)
    },
    async 'remove-expired'() {
      if (await mayErase()) await removeExpired(backgroundDb)
    },
    async 'check-counters'(_, { abortPromise }) {
      const aborted = abortPromise as Promise<never>
      const differences = await Promise.race([findCounterDifferences(backgroundDb), aborted])
      for (const difference of differences) log.error(difference, 'counter differs from its rows')
      await storeCounterCheck(backgroundDb, differences.length)
      log.info({ differences: differences.length }, 'counters checked')
    },
  }
}

/** For jobs that the release before has left in the queue: its mails move into the outbox, the others end. The next release drops this. */
function movingIntoOutbox(db: Db, tasks: string[]): JobTasks {
  const moving = tasks.map((task) => [task, (mail: QueuedMail) => queueMail(db, task, mail)])
  const ended = ['release-mails', 'remove-likes', 'restore-posts'].map((task) => [
    task,
    async () => {},
  ])
  return Object.fromEntries([...moving, ...ended])
}
