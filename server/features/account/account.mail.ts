import { createHmac } from 'node:crypto'
import { PATHS } from '../../../contract/pages.ts'
import { writeMail } from '../../kernel/mail/mail-body.ts'
import type { NoticeOptions } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'
import type { Mail } from '../../kernel/mail/smtp.ts'

/** A queued notice to the address an account has just left. It expires with the link. */
export type EmailNotice = QueuedMail & { username: string; changeId: string }

type WriteOptions = NoticeOptions & { undoKey: Buffer }

export const accountMails = (options: WriteOptions) => ({
  'send-email-notice': { write: (mail: EmailNotice) => writeEmailNotice(mail, options) },
})

function writeEmailNotice({ to, username, changeId }: EmailNotice, options: WriteOptions): Mail {
  const { appName, origin, undoKey, contact } = options
  const lines = [
    `Аккаунт ${username} на сайте «${appName}» теперь привязан к другой почте.`,
    'Этот адрес больше не открывает к нему доступ.',
    '',
    'Если это сделали вы, ничего делать не нужно.',
    'Если нет, кто-то получил доступ к вашему аккаунту. Верните прежнюю почту по ссылке:',
    '',
    undoLink(origin, changeId, undoKey),
    '',
    'Все сессии завершатся, и войти можно будет только с этого адреса.',
    'Ссылка действует три дня. Никому её не пересылайте.',
    ...(contact ? ['', `Если ссылка не поможет, напишите нам: ${contact}`] : []),
  ]
  return writeMail({ to, subject: 'Почта аккаунта изменена' }, lines, options)
}

/** Id and secret follow the `#`, which browsers do not send: no log and no other site sees them. */
function undoLink(origin: string, changeId: string, key: Buffer): string {
  return `${origin}${PATHS.emailUndo}#${changeId}.${undoSecret(changeId, key)}`
}

/** HMAC-SHA-256 of a change's id: always the same, so none is stored. */
export function undoSecret(changeId: string, key: Buffer): string {
  return createHmac('sha256', key).update(changeId).digest('hex')
}
