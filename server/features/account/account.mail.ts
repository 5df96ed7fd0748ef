import { createHmac } from 'node:crypto'
import { formatTime } from '../../../contract/dates.ts'
import { PATHS } from '../../../contract/pages.ts'
import { writeMail } from '../../kernel/mail/mail-body.ts'
import type { NoticeOptions } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'

/** It expires when its link does. */
export type EmailNotice = QueuedMail & {
  username: string
  changeId: string
  expiresAt: number
  /** Why the operator has changed the e-mail; absent if its owner did. */
  reason?: string
}

/** Tells a new address that the operator has moved an account to it. */
export type NewEmailNotice = QueuedMail & {
  username: string
  reason: string
  undoableUntil: number
}

type WriteOptions = NoticeOptions & { undoKey: Buffer }

export const accountMails = (options: WriteOptions) => ({
  'send-email-notice': {
    write({ to, username, changeId, expiresAt, reason }: EmailNotice) {
      const { appName, origin, undoKey, contact } = options
      const lines = [
        `Аккаунт ${username} на сайте «${appName}» теперь привязан к другой почте.`,
        'Этот адрес больше не открывает к нему доступ.',
        '',
        ...(reason === undefined
          ? [
              'Если это сделали вы, ничего делать не нужно.',
              'Если нет, кто-то получил доступ к вашему аккаунту. Верните прежнюю почту по ссылке:',
            ]
          : [
              `Так сделали те, кто ведёт сайт. Причина: ${reason}`,
              '',
              'Если об этом просили вы, ничего делать не нужно.',
              'Если нет, кто-то выдал себя за вас. Верните прежнюю почту по ссылке:',
            ]),
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
  'send-new-email-notice': {
    write({ to, username, reason, undoableUntil }: NewEmailNotice) {
      const { appName, origin, contact } = options
      const lines = [
        `Аккаунт ${username} на сайте «${appName}» теперь привязан к этой почте.`,
        `Так сделали те, кто ведёт сайт. Причина: ${reason}`,
        '',
        'Все прежние сессии завершены. Чтобы войти, откройте сайт и укажите этот адрес: придёт код.',
        '',
        origin,
        '',
        `До ${formatTime(undoableUntil)} это можно отменить по ссылке из письма на прежнюю почту.`,
        ...(contact ? ['', `Если вы об этом не просили, напишите нам: ${contact}`] : []),
      ]
      return writeMail({ to, subject: 'Почта аккаунта изменена' }, lines, options)
    },
  },
})

/** Returns the HMAC-SHA-256 of a change's id, which is always the same, so it is not stored. */
export function undoSecret(changeId: string, key: Buffer): string {
  return createHmac('sha256', key).update(changeId).digest('hex')
}
