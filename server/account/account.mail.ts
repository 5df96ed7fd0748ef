import type { MailTransport } from '../mail/transport.ts'
import { undoLink } from './email-undo-link.ts'

/** A queued notice to the address an account has just left. It names the change; the link is derived when it is written. */
export type EmailNotice = {
  to: string
  username: string
  changeId: string
  /** When the change can no longer be undone, in unix milliseconds: no mail is tried after it. */
  expiresAt: number
}

type NoticeOptions = {
  appName: string
  /** The origin people see, for the link. */
  origin: string
  undoKey: Buffer
  transport: MailTransport
}

/** Writes and sends a notice, or gives up when `signal` aborts. Rejects when it could not be sent. */
export async function sendEmailNotice(
  { to, username, changeId }: EmailNotice,
  signal: AbortSignal,
  { appName, origin, undoKey, transport }: NoticeOptions,
): Promise<void> {
  const mail = {
    to,
    subject: `Почта аккаунта изменена · ${appName}`,
    text: [
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
    ].join('\n'),
  }
  await transport.send(mail, signal)
}
