import { join } from 'node:path'
import { accountMails } from './features/account/account.mail.ts'
import { removeExpiredAccountRows } from './features/account/account.repository.ts'
import { accountDeletionMails } from './features/account-deletion/account-deletion.mail.ts'
import {
  deletionFolders,
  pruneDeletions,
} from './features/account-deletion/deletion-list.service.ts'
import { accountDeletionJobs } from './features/account-deletion/move-accounts.task.ts'
import { answerMails } from './features/answers/answers.mail.ts'
import { answerJobs } from './features/answers/answers.task.ts'
import { codeMails } from './features/codes/codes.mail.ts'
import { removeExpiredOperations } from './features/codes/codes.repository.ts'
import { likeJobs } from './features/likes/likes.service.ts'
import { removeExpiredBlocks } from './features/moderation/blocks.repository.ts'
import { purgeExpiredPosts } from './features/moderation/hiding.service.ts'
import { moderationMails } from './features/moderation/moderation.mail.ts'
import { moderationJobs } from './features/moderation/moderation.task.ts'
import { removeOldReports } from './features/moderation/report-states.repository.ts'
import { counterJobs } from './features/posts/counters.task.ts'
import { removeOldKeys } from './features/posts/publications.repository.ts'
import { removeOldClients } from './features/sessions/known-clients.repository.ts'
import { removeExpiredSessions } from './features/sessions/sessions.repository.ts'
import { signInMails } from './features/sign-in/sign-in.mail.ts'
import { mailNameMails } from './features/site-state/mail-name.mail.ts'
import { removeOldRefusals } from './features/site-state/mail-name.repository.ts'
import { readMailName } from './features/site-state/mail-name.service.ts'
import { removeExpiredSiteRows } from './features/site-state/site-state.repository.ts'
import { originOf } from './kernel/config/config.ts'
import { databaseTime } from './kernel/db/clock.ts'
import type { Db } from './kernel/db/database.ts'
import { quietDuringOutages } from './kernel/db/outage.ts'
import { createSteadyClock } from './kernel/db/steady-clock.ts'
import { removeOldAccesses } from './kernel/journal/access-journal.ts'
import { removeExpiredLimits } from './kernel/limits/limits.repository.ts'
import { MAIL_LOG_KEY, removeOldMailEntries } from './kernel/mail/mail-log.repository.ts'
import { limitMailsPerHour } from './kernel/mail/mails-per-hour.ts'
import { removeOldMails } from './kernel/mail/old-mails.ts'
import { mailJobs } from './kernel/mail/send-mails.ts'
import type { Jobs } from './kernel/queue/queue.ts'
import type { AppOptions, Node } from './node.ts'
import { oldestBackup } from './operations/backup/backup-folder.ts'
import { backupJobs } from './operations/backup/nightly-backup.task.ts'
import { storeCounterCheck } from './operations/status/status.repository.ts'

/** The name of a kind of mail. */
export type MailTask = keyof ReturnType<typeof mailsOf>

/** Lists the mails of every feature. */
function mailsOf({ config, key, database: { db } }: Node) {
  const { appName, contactEmail: contact, codeTtlSeconds: ttlSeconds } = config
  const words = { appName, origin: originOf(config), contact }
  const { moderatorEmails } = config
  const operatorEmails = moderatorEmails.length > 0 || !contact ? moderatorEmails : [contact]
  return {
    ...codeMails({ ...words, key: key('codes'), ttlSeconds, operatorEmails }),
    ...signInMails(words),
    ...accountMails({ ...words, undoKey: key('email-undo') }),
    ...accountDeletionMails(words),
    ...moderationMails(db, words),
    ...mailNameMails(db, words),
    ...answerMails(db, { ...words, unsubscribeKey: key('unsubscribe') }),
  }
}

/** Lists what removes rows whose time is up. */
const PRUNING: ((db: Db) => Promise<unknown>)[] = [
  removeExpiredOperations,
  removeExpiredAccountRows,
  removeExpiredSessions,
  removeOldClients,
  removeExpiredSiteRows,
  removeExpiredLimits,
  removeOldMailEntries,
  removeOldRefusals,
  removeOldKeys,
  removeExpiredBlocks,
  removeOldReports,
  purgeExpiredPosts,
]

/** Lists the jobs of every feature. */
export function jobsOf(node: Node, { secret, transport, settleMs }: AppOptions): Jobs {
  const { config, key, log, outage, directUrl, metrics, database } = node
  const { publishChange } = node.cache
  const { backupDir, moderatorEmails, reportsToHide, dataDir } = config
  const { db } = database
  const background = node.background.db
  const nameKey = key('usernames')
  const mayErase = createSteadyClock({ readTime: () => databaseTime(background), log, settleMs })
  const charge = limitMailsPerHour({
    limits: node.limits,
    most: config.mailsPerHour,
    isSlowed: async () => (await readMailName(db)).isSlowed,
  })
  const backups = {
    db: background,
    url: directUrl,
    dataDir,
    keep: config.backupKeep,
    command: config.backupCommand,
    secret,
    log,
  }
  return {
    ...mailJobs({
      db,
      kinds: mailsOf(node),
      transport: metrics?.countMails(transport) ?? transport,
      charge,
      logKey: key(MAIL_LOG_KEY),
      log: quietDuringOutages(log, outage),
      outage,
    }),
    ...likeJobs(background),
    ...answerJobs(background),
    ...moderationJobs({ db, background, nameKey, moderatorEmails, reportsToHide, publishChange }),
    ...accountDeletionJobs(background, {
      folders: deletionFolders(config),
      nameKey,
      mayErase,
      publishChange,
      log,
    }),
    ...counterJobs(background, { log, storeResult: (n) => storeCounterCheck(background, n) }),
    ...(backupDir !== undefined && backupJobs(config.backupAt, { ...backups, folder: backupDir })),
    'remove-expired': {
      everyMinutes: 60,
      atMinute: 17,
      async run() {
        if (await mayErase()) for (const prune of PRUNING) await prune(background)
      },
    },
    'remove-old-traces': {
      everyMinutes: 60,
      atMinute: 27,
      async run() {
        if (!(await mayErase())) return
        await removeOldMails(join(dataDir, 'mail'))
        await removeOldAccesses(background, config.accessJournalDays)
        await pruneDeletions(deletionFolders(config), await oldestDeletion(backupDir))
      },
    },
  }
}

/** Returns since when deletions are needed: by the oldest backup, and by copies of up to a year. */
async function oldestDeletion(backupDir: string | undefined): Promise<Date> {
  const yearAgo = Date.now() - 365 * 86_400_000
  const oldest = backupDir === undefined ? undefined : await oldestBackup(backupDir)
  return new Date(Math.min(yearAgo, oldest?.getTime() ?? yearAgo))
}
