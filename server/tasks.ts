import type { FastifyBaseLogger } from 'fastify'
import { type EmailNotice, sendEmailNotice } from './account/account.mail.ts'
import { type CodeMail, sendCodeMail } from './codes/codes.mail.ts'
import { updateMailState } from './codes/codes.repository.ts'
import type { Db } from './db/database.ts'
import { removeLikesOfDeleted } from './likes/likes.task.ts'
import { sendUntilExpired } from './mail/send-mail.task.ts'
import { LONGEST_CONVERSATION_SECONDS } from './mail/smtp.ts'
import type { MailTransport } from './mail/transport.ts'
import { findCounterDifferences } from './posts/counters.task.ts'
import { createPruning } from './prune.task.ts'
import { type JobTasks, releaseAbandonedJobs } from './queue/queue.ts'

type Options = {
  db: Db
  /** The background pool, whose statements may take as long as they need. */
  backgroundDb: Db
  log: FastifyBaseLogger
  codeKey: Buffer
  undoKey: Buffer
  /** The origin people see. */
  origin: string
  appName: string
  transport: MailTransport
}

/** When the recurring jobs run (UTC). */
export const CRONTAB = `
* * * * * release-mails
* * * * * remove-likes
17 * * * * remove-expired
40 2 * * * check-counters
`

/** Longer than sending a mail and storing its outcome take, so that no mail is sent twice at the same time. */
const LONGEST_MAIL_SECONDS = LONGEST_CONVERSATION_SECONDS + 10

/** Every job of the product by its name. */
export function createTasks({
  db,
  backgroundDb,
  log,
  codeKey,
  undoKey,
  origin,
  appName,
  transport,
}: Options): JobTasks {
  return {
    'send-code': sendUntilExpired(
      'send-code',
      {
        send: (mail: CodeMail, attempt) =>
          sendCodeMail(mail, { key: codeKey, appName, transport, ...attempt }),
        onOutcome: (mail, outcome) => updateMailState(db, mail.operationId, outcome),
      },
      { db, log },
    ),
    'send-email-notice': sendUntilExpired(
      'send-email-notice',
      {
        send: (notice: EmailNotice, { signal }) =>
          sendEmailNotice(notice, signal, { appName, origin, undoKey, transport }),
      },
      { db, log },
    ),
    'remove-likes': (_, stopping) => removeLikesOfDeleted(backgroundDb, stopping),
    'release-mails': () =>
      releaseAbandonedJobs(db, ['send-code', 'send-email-notice'], LONGEST_MAIL_SECONDS),
    'remove-expired': createPruning(backgroundDb, log),
    async 'check-counters'(_, stopping) {
      const differences = await Promise.race([findCounterDifferences(backgroundDb), stopping])
      for (const difference of differences) log.error(difference, 'counter differs from its rows')
      log.info({ differences: differences.length }, 'counters checked')
    },
  }
}
