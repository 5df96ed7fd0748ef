import type { FastifyBaseLogger } from 'fastify'
import { type EmailNotice, sendEmailNotice } from './account/account.mail.ts'
import { moveAccounts } from './account-deletion/account-deletion.service.ts'
import { type CodeMail, sendCodeMail } from './codes/codes.mail.ts'
import { updateMailState } from './codes/codes.repository.ts'
import type { Config } from './config.ts'
import type { Db } from './db/database.ts'
import { removeLikesOfDeleted } from './likes/likes.service.ts'
import { sendUntilExpired } from './mail/send-mail.task.ts'
import { LONGEST_CONVERSATION_SECONDS } from './mail/smtp.ts'
import type { MailTransport } from './mail/transport.ts'
import { findCounterDifferences } from './posts/counters.task.ts'
import { createPruning } from './prune.task.ts'
import { type JobTasks, releaseAbandonedJobs } from './queue/queue.ts'

type Options = {
  config: Pick<Config, 'appName' | 'publicUrl' | 'port'>
  db: Db
  /** The background pool, whose statements may take as long as they need. */
  backgroundDb: Db
  log: FastifyBaseLogger
  codeKey: Buffer
  undoKey: Buffer
  nameKey: Buffer
  transport: MailTransport
}

/** When the recurring jobs run (UTC). */
export const CRONTAB = `
* * * * * release-mails
* * * * * remove-likes
* * * * * move-accounts
17 * * * * remove-expired
40 2 * * * check-counters
`

/** Longer than sending a mail and storing its outcome take, so that no mail is sent twice at the same time. */
const LONGEST_MAIL_SECONDS = LONGEST_CONVERSATION_SECONDS + 10

/** Every job of the product by its name. */
export function createTasks(options: Options): JobTasks {
  const { config, db, backgroundDb, log, codeKey, undoKey, nameKey, transport } = options
  const { appName, publicUrl, port } = config
  // The origin people see, for links in mails.
  const origin = publicUrl ?? `http://localhost:${port}`
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
    'remove-likes': (_, { abortPromise }) =>
      removeLikesOfDeleted(backgroundDb, abortPromise as Promise<never>),
    'move-accounts': (_, { abortPromise }) =>
      moveAccounts(backgroundDb, nameKey, abortPromise as Promise<never>),
    'release-mails': () =>
      releaseAbandonedJobs(db, ['send-code', 'send-email-notice'], LONGEST_MAIL_SECONDS),
    'remove-expired': createPruning(backgroundDb, log),
    async 'check-counters'(_, { abortPromise }) {
      const aborted = abortPromise as Promise<never>
      const differences = await Promise.race([findCounterDifferences(backgroundDb), aborted])
      for (const difference of differences) log.error(difference, 'counter differs from its rows')
      log.info({ differences: differences.length }, 'counters checked')
    },
  }
}
