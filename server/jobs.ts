import {
  deletionFolders,
  pruneDeletions,
} from './features/account-deletion/deletion-list.service.ts'
import { counterJobs } from './features/posts/counters.task.ts'
import {
  askerOf,
  findAskerWait,
  hasRefusal,
  readMailReputation,
} from './features/site-state/mail-reputation.service.ts'
import type { Db } from './kernel/db/database.ts'
import { quietDuringOutages } from './kernel/db/quiet-log.ts'
import { removeOldAccesses } from './kernel/journal/journal.ts'
import { removeExpiredLimits } from './kernel/limits/limits.repository.ts'
import { MAIL_LOG_KEY, removeOldMailEntries } from './kernel/mail/mail-log.repository.ts'
import { noticeOptions } from './kernel/mail/mail-words.ts'
import { createMailLimit } from './kernel/mail/mails-per-hour.ts'
import { SENDERS } from './kernel/mail/queue-mail.ts'
import { dnsNameOf } from './kernel/mail/relay.ts'
import { mailJobs } from './kernel/mail/send-mails.ts'
import { removeOldMails } from './kernel/mail/transport.ts'
import { type Jobs, startJobs } from './kernel/queue/queue.ts'
import { Workers } from './kernel/queue/workers.ts'
import type { BackgroundWork } from './kernel/server-context.ts'
import type { OpenContext } from './open-context.ts'
import { backupMails } from './operations/backup/backup.mail.ts'
import { oldestBackup } from './operations/backup/backup-folder.ts'
import { storeBackupTime } from './operations/backup/backup-state.repository.ts'
import { backupJobs } from './operations/backup/nightly-backup.task.ts'
import { storeCounterCheck } from './operations/status/status.repository.ts'

/** How many jobs run at once, apart from those that send mails. */
const CONCURRENT_JOBS = 4

/** Starts the jobs. Those that send mails have workers and connections of their own. */
export async function startAllJobs(context: OpenContext, features: BackgroundWork[]) {
  const { config, background, backgroundPool, mailPool, directUrl } = context
  const log = quietDuringOutages(context.log, context.outage)
  const workers = new Workers(directUrl, log)
  if (config.backupDir !== undefined) await storeBackupTime(background, config.backupAt)
  const mails = { jobs: mailJobsOf(context, features), concurrency: SENDERS }
  const others = { jobs: jobsOf(context, features), concurrency: CONCURRENT_JOBS }
  const runners = await Promise.all([
    startJobs(mailPool.pool, { ...mails, log, workers }),
    startJobs(backgroundPool.pool, { ...others, log, workers }),
  ])
  workers.start()
  return {
    async stop(): Promise<void> {
      await Promise.all(runners.map((runner) => runner.stop()))
      await workers.stop()
    },
  }
}

function mailJobsOf(context: OpenContext, features: BackgroundWork[]): Jobs {
  const { config, key, db, log, outage } = context
  return mailJobs({
    db,
    kinds: Object.assign(backupMails(noticeOptions(config)), ...features.map(({ mails }) => mails)),
    transport: context.mail,
    countTry: context.metrics?.countTry,
    charge: createMailLimit({
      limits: context.limits,
      most: config.mailsPerHour,
      isSlowed: async () => (await readMailReputation(db)).isSlowed,
      findAskerWait: (asker) => findAskerWait(db, askerOf(asker, context)),
      hasRefusal: (asker) => hasRefusal(db, askerOf(asker, context)),
    }),
    logKey: key(MAIL_LOG_KEY),
    idHost: dnsNameOf(context.idBase),
    log: quietDuringOutages(log, outage),
    outage,
  })
}

function jobsOf(context: OpenContext, features: BackgroundWork[]): Jobs {
  const { config, background, log, secret, directUrl } = context
  return {
    ...Object.assign({}, ...features.map(({ jobs }) => jobs)),
    ...counterJobs(background, { log, storeResult: (n) => storeCounterCheck(background, n) }),
    ...(config.backupDir !== undefined &&
      backupJobs(config.backupAt, {
        db: background,
        url: directUrl,
        folder: config.backupDir,
        dataDir: config.dataDir,
        keep: config.backupKeep,
        command: config.backupCommand,
        secret,
        log,
      })),
    ...pruningJobs(context, features),
  }
}

const HOUR_MS = 3_600_000

function pruningJobs(
  { config, background, mayErase }: OpenContext,
  features: BackgroundWork[],
): Jobs {
  const pruning: ((db: Db) => Promise<unknown>)[] = [
    ...features.flatMap(({ pruning = [] }) => pruning),
    removeExpiredLimits,
    removeOldMailEntries,
  ]
  return {
    'remove-expired': {
      cron: '17 * * * *',
      lateByMs: HOUR_MS,
      async run() {
        if (await mayErase()) for (const prune of pruning) await prune(background)
      },
    },
    'remove-old-traces': {
      cron: '27 * * * *',
      lateByMs: HOUR_MS,
      async run() {
        if (!(await mayErase())) return
        await removeOldMails(config.dataDir)
        await removeOldAccesses(background, config.accessJournalDays)
        const oldest = await oldestDeletion(config.backupDir)
        if (oldest) await pruneDeletions(deletionFolders(config), oldest)
      },
    },
  }
}

/**
 * Returns the time since which deletions are kept: a year ago, or that of an older backup;
 * undefined if the backups cannot be listed.
 */
async function oldestDeletion(backupDir: string | undefined): Promise<Date | undefined> {
  const yearAgo = new Date(Date.now() - 365 * 86_400_000)
  if (backupDir === undefined) return yearAgo
  try {
    const oldest = (await oldestBackup(backupDir)) ?? yearAgo
    return oldest < yearAgo ? oldest : yearAgo
  } catch {
    return undefined
  }
}
