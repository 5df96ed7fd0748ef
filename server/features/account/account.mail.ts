import { createHmac } from 'node:crypto'
import { formatTime } from '../../../contract/dates.ts'
import { PATHS } from '../../../contract/pages.ts'
import { writeMail } from '../../kernel/mail/mail-body.ts'
import type { NoticeOptions } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'

/** It expires when its link does. */
export type EmailNotice = QueuedMail & { username: string; changeId: string; expiresAt: number }

type WriteOptions = NoticeOptions & { undoKey: Buffer }

export const accountMails = (options: WriteOptions) => ({
  'send-email-notice': {
    write({ to, username, changeId, expiresAt }: EmailNotice) {
      const { appName, origin, undoKey, contact } = options
      const lines = [
        `Аккаунт ${username} на сайте «${appName}» теперь привязан к другой почте.`,
        'Этот адрес больше не открывает к нему доступ.',
        '',
        'Если это сделали вы, ничего делать не нужно.',
        'Если нет, кто-то получил доступ к вашему аккаунту. Верните прежнюю почту по ссылке:',
        '',
        // Browsers do not send what follows the `#`, so no log and no other site sees it.
        `${origin}${PATHS.emailUndo}#${changeId}.${undoSecret(changeId, undoKey)}`,
        '',
        'Все сессии завершатся, и войти можно будет только с этого адреса. Если аккаунт успели удалить, он вернётся целиком.',
        `Ссылка действует до ${formatTime(expiresAt)}. Никому её не пересылайте.`,
        ...(contact ? ['', `Если ссылка не поможет, напишите нам: ${contact}`] : []),
      ]
      return writeMail({ to, subject: 'Почта аккаунта изменена' }, lines, options)
    },
  },
})

/** Returns the HMAC-SHA-256 of a change's id, which is always the same, so it is not stored. */
export function undoSecret(changeId: string, key: Buffer): string {
  return createHmac('sha256', key).update(changeId).digest('hex')
}
