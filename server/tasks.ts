import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { deletionFolders, noteDeletions } from './account-deletion/deletion-list.service.ts'
import { moveAccounts } from './account-deletion/move-accounts.task.ts'
import type { AppOptions } from './app-parts.ts'
import { createNightlyBackup } from './backup/nightly-backup.task.ts'
import type { Config } from './config.ts'
import { databaseTime } from './db/clock.ts'
import type { Db } from './db/database.ts'
import { type Outage, quietDuringOutages } from './db/outage.ts'
import { createSteadyClock } from './db/steady-clock.ts'
import { removeOldAccesses } from './journal/access-journal.ts'
import { moveLikes } from './likes/likes.service.ts'
import { MAIL_LOG_KEY } from './mail/mail-log.repository.ts'
import { removeOldMails } from './mail/old-mails.ts'
import { type QueuedMail, queueMail, SENDING } from './mail/queue-mail.ts'
import { createSending } from './mail/send-mails.ts'
import type { MailTransport } from './mail/transport.ts'
import { createMailKinds } from './mail-tasks.ts'
import { createBlockSpreading } from './moderation/blocks.service.ts'
import { createHidingReview } from './moderation/hiding.service.ts'
import { tellModerators } from './moderation/moderation.service.ts'
import { createAnnouncing, createBlockAnnouncing } from './moderation/moderation.task.ts'
import { findCounterDifferences } from './posts/counters.task.ts'
import { removeExpired } from './prune.task.ts'
import type { JobTasks } from './queue/queue.ts'
import type { RecurringJob } from './queue/recurring-jobs.ts'
import { deriveKey } from './start/app-secret.ts'
import { storeCounterCheck } from './status/status.repository.ts'

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
