import { SESSIONS_MAX } from '../../../contract/constants.ts'
import { PATHS } from '../../../contract/pages.ts'
import { toOneLine, writeMail } from '../../kernel/mail/mail-body.ts'
import { type NoticeOptions, whenAndWhere } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'

export type SignInNotice = QueuedMail & {
  username: string
  /** The device, such as «Firefox, Linux», and the time of its sign-in in unix milliseconds. */
  device: string | null
  signedInAt: number
  closedOldest?: boolean
  /** The name of the passkey that signed in; absent after a code. */
  passkey?: string
}

export const signInMails = (options: NoticeOptions) => ({
  'send-sign-in-notice': {
    write({ to, username, device, signedInAt, closedOldest, passkey }: SignInNotice) {
      const { appName, origin, contact } = options
      const lines = [
        `В аккаунт ${username} на сайте «${appName}» вошли с нового устройства:`,
        `${whenAndWhere(signedInAt, device)}.`,
        ...(closedOldest
          ? ['', `Сессий может быть не больше ${SESSIONS_MAX}, поэтому самая старая завершена.`]
          : []),
        '',
        'Если это были вы, ничего делать не нужно.',
        'Если нет, завершите эту сессию в настройках, в разделе «Устройства»:',
        '',
        `${origin}${PATHS.devices}`,
        '',
        ...(passkey === undefined
          ? ['Вошли с кодом из письма на этот адрес, поэтому смените и пароль от почты.']
          : [
              `Вошли с ключом доступа «${toOneLine(passkey)}». Если он не ваш, удалите его:`,
              '',
              `${origin}${PATHS.passkeys}`,
            ]),
        ...(contact ? ['', `Если нужна помощь, напишите нам: ${contact}`] : []),
      ]
      return writeMail({ to, subject: 'Вход с нового устройства' }, lines, options)
    },
  },
})
