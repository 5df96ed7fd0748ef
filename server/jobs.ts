import type { FastifyBaseLogger } from 'fastify'
import { type EmailNotice, sendEmailNotice } from './account/account.jobs.ts'
import { type CodeMail, sendCodeMail } from './codes/codes.jobs.ts'
import { keepMailState, removeExpiredMailPlaces, removeExpiredOperations } from './codes/codes.ts'
import { type JobTasks, releaseAbandonedJobs } from './db/jobs.ts'
import type { Db } from './db/open.ts'
import { removeExpiredLimits } from './http/limits.ts'
import { sendUntilExpired } from './mail/send-until.ts'
import { LONGEST_CONVERSATION_SECONDS } from './mail/smtp.ts'
import type { MailTransport } from './mail/transport.ts'
import { findCounterDifferences } from './posts/posts.jobs.ts'
import { deleteDeadSessions } from './sessions/sessions.ts'

type Options = {
  db: Db
  /** A database handle whose statements may take as long as they need. */
  patientDb: Db
  log: FastifyBaseLogger
  codeKey: Buffer
  appName: string
  transport: MailTransport
}

/** When the jobs nobody asks for run (UTC). */
export const CRONTAB = `
* * * * * release-mails
17 * * * * remove-expired
40 2 * * * check-counters
`

/** Longer than a conversation and what is written down of it take: no mail is under way twice at a time. */
const LONGEST_MAIL_SECONDS = LONGEST_CONVERSATION_SECONDS + 10

/** Every job of the product by its name. */
export function createTasks({
  db,
  patientDb,
  log,
  codeKey,
  appName,
  transport,
}: Options): JobTasks {
  return {
    'send-code': sendUntilExpired(
      'send-code',
      {
        send: (mail: CodeMail, signal) =>
          sendCodeMail(mail, signal, { key: codeKey, appName, transport }),
        onOutcome: (mail, outcome) => keepMailState(db, mail.operationId, outcome),
      },
      { db, log },
    ),
    'send-email-notice': sendUntilExpired(
      'send-email-notice',
      {
        send: (notice: EmailNotice, signal) =>
          sendEmailNotice(notice, signal, { appName, transport }),
      },
      { db, log },
    ),
    'release-mails': () =>
      releaseAbandonedJobs(db, ['send-code', 'send-email-notice'], LONGEST_MAIL_SECONDS),
    async 'remove-expired'() {
      await removeExpiredOperations(patientDb)
      await removeExpiredMailPlaces(patientDb)
      await deleteDeadSessions(patientDb)
      await removeExpiredLimits(patientDb)
    },
    async 'check-counters'(_, stopping) {
      const differences = await Promise.race([findCounterDifferences(patientDb), stopping])
      for (const difference of differences) log.error(difference, 'counter differs from its rows')
      log.info({ differences: differences.length }, 'counters checked')
    },
  }
}
