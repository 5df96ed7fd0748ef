import { PATHS } from '../../contract/pages.ts'
import { whenAndWhere } from '../mail/mail-words.ts'
import type { QueuedMail } from '../mail/queue-mail.ts'
import type { NoticeOptions } from '../mail/transport.ts'

/** A queued notice that a client has signed in which had never done so as this user. */
export type SignInNotice = QueuedMail & {
  username: string
  /** The device, such as «Firefox, Linux», where it is known; when it signed in, in unix milliseconds. */
  device: string | null
  signedInAt: number
}

/** Writes and sends a notice, unless `signal` aborts. Returns the mail server's answer; rejects when it was not sent. */
export async function sendSignInNotice(
  { to, username, device, signedInAt }: SignInNotice,
  signal: AbortSignal,
  { appName, origin, contact, transport }: NoticeOptions,
): Promise<string> {
  const mail = {
    to,
    subject: `Вход с нового устройства · ${appName}`,
    text: [
      `В аккаунт ${username} на сайте «${appName}» вошли с нового устройства:`,
      `${whenAndWhere(signedInAt, device)}.`,
      '',
      'Если это были вы, ничего делать не нужно.',
      'Если нет, завершите эту сессию в настройках, в разделе «Устройства»:',
      '',
      `${origin}${PATHS.devices}`,
      '',
      'Вошедший знал код из письма на этот адрес: смените и пароль от своей почты.',
      ...(contact ? ['', `Если нужна помощь, напишите нам: ${contact}`] : []),
    ].join('\n'),
  }
  return await transport.send(mail, signal)
}
