import { sql } from 'kysely'
import { withoutRemoved } from '../../features/moderation/moderators.repository.ts'
import { type Config, operatorEmails } from '../../kernel/config/config.ts'
import { type Db, hasRow } from '../../kernel/db/database.ts'
import { writeMail } from '../../kernel/mail/mail-body.ts'
import type { MailOptions } from '../../kernel/mail/mail-words.ts'
import { type QueuedMail, queueMail } from '../../kernel/mail/queue-mail.ts'

const TASK = 'send-backup-mail'
const CHECKS = ['backup', 'backup command', 'backup disk']

type Fault = { message: string; fix?: string | undefined }

export const backupMails = (options: MailOptions) => ({
  [TASK]: {
    write({ to, message, fix }: QueuedMail & Fault) {
      const lines = [
        `С копиями стены ${options.origin} не всё в порядке: ${message}.`,
        ...(fix === undefined ? [] : [`${fix}.`]),
        '',
        'Проверить ещё раз: vslukh doctor',
        'Второе такое письмо придёт не раньше чем через сутки.',
      ]
      return writeMail({ to, subject: 'Копии стены не в порядке' }, lines, options)
    },
  },
})

/** Mails the operators a fault of the backups that the doctor has found; at most one mail a day. */
export async function mailBrokenBackups(
  db: Db,
  { check, message, fix }: Fault & { check: string },
  config: Pick<Config, 'moderatorEmails' | 'contactEmail'>,
): Promise<void> {
  if (!CHECKS.includes(check) || (await wasMailedToday(db))) return
  for (const to of await mailedOperators(db, config)) {
    const mail: QueuedMail & Fault = { to, message, fix }
    await queueMail(db, TASK, mail)
  }
}

async function mailedOperators(
  db: Db,
  config: Pick<Config, 'moderatorEmails' | 'contactEmail'>,
): Promise<string[]> {
  const emails = await withoutRemoved(db, operatorEmails(config))
  return emails.length > 0 ? emails : operatorEmails({ ...config, moderatorEmails: [] })
}

function wasMailedToday(db: Db): Promise<boolean> {
  const yesterday = sql<Date>`now() - interval '1 day'`
  const mails = db.selectFrom('outbox').select('id').where('task', '=', TASK)
  return hasRow(mails.where('queued_at', '>', yesterday).limit(1))
}
