import { formatDay } from '../../../contract/dates.ts'
import { writeMail } from '../../kernel/mail/mail-body.ts'
import type { NoticeOptions } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'

/** `erasedAt` is in unix seconds. */
export type DeletionNotice = QueuedMail & { username: string; erasedAt: number }

/** The notice is retried for three days; the queue keeps no address for longer. */
export const NOTICE_MS = 3 * 86_400_000

export const accountDeletionMails = (options: NoticeOptions) => ({
  'send-deletion-notice': {
    write({ to, username, erasedAt }: DeletionNotice) {
      const { appName, origin, contact } = options
      const lines = [
        `Аккаунт ${username} на сайте «${appName}» удалён: это подтвердили кодом из письма на этот адрес.`,
        'Записи, ответы и отметки «Нравится» больше никому не видны, все сессии завершены.',
        '',
        `До ${formatDay(erasedAt * 1000)} аккаунт можно вернуть целиком: войдите с этой почтой. Потом он будет стёрт навсегда.`,
        '',
        origin,
        '',
        'Если это сделали вы, ничего делать не нужно.',
        'Если нет, кто-то читает вашу почту. Смените пароль от неё, затем войдите на сайт и верните аккаунт.',
        ...(contact ? ['', `Если вернуть аккаунт не получится, напишите нам: ${contact}`] : []),
      ]
      return writeMail({ to, subject: 'Аккаунт удалён' }, lines, options)
    },
  },
})
