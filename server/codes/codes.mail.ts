import type { Mail } from '../mail/smtp.ts'
import type { MailTransport } from '../mail/transport.ts'
import { codeOf } from './code.ts'
import type { Purpose } from './codes.repository.ts'

/** A queued mail with a code. It names the operation, not the code; sending it derives the code. */
export type CodeMail = {
  to: string
  purpose: Purpose
  operationId: string
  /** When the code expires, in unix milliseconds. The mail is not sent after it. */
  expiresAt: number
}

const WHAT: Record<Purpose, string> = {
  login: 'код для входа',
  registration: 'код для регистрации',
  'email-change': 'код для смены почты',
}

type SendOptions = {
  key: Buffer
  appName: string
  transport: MailTransport
  /** Milliseconds until the code expires. */
  leftMs: number
  /** Aborts when the process is about to end. */
  signal: AbortSignal
}

/** Writes and sends the mail of an operation. Rejects when it was not sent. */
export async function sendCodeMail(
  mail: CodeMail,
  { key, appName, transport, leftMs, signal }: SendOptions,
): Promise<void> {
  const minutes = Math.max(1, Math.round(leftMs / 60_000))
  const code = codeOf(mail.operationId, key)
  await transport.send(compose(mail, { code, appName, minutes }), signal)
}

type Content = { code: string; appName: string; minutes: number }

function compose({ to, purpose }: CodeMail, { code, appName, minutes }: Content): Mail {
  return {
    to,
    subject: `${code} — ${WHAT[purpose]} · ${appName}`,
    text: [
      `${code} — ваш ${WHAT[purpose]}.`,
      '',
      `Введите его на странице «${appName}». Код действует ещё ${minutes} мин.`,
      'Никому не сообщайте его: он открывает доступ к вашей учётной записи.',
      '',
      'Если вы ничего не запрашивали, просто удалите это письмо.',
    ].join('\n'),
  }
}
