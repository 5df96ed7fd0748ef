import type { Mail } from '../mail/letter.ts'
import type { MailTransport } from '../mail/transport.ts'
import { codeOf } from './code.ts'
import type { Purpose } from './codes.repository.ts'

/** A queued mail with a code. It names the operation, not the code: that is derived when the mail is written. */
export type CodeMail = {
  to: string
  purpose: Purpose
  operationId: string
  /** When the code expires, in unix milliseconds: no mail is tried after it. */
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
  /** For how many milliseconds more the code is good. */
  leftMs: number
  /** Aborts when the process is about to end: the mail is given up. */
  signal: AbortSignal
}

/** Writes and sends the mail of an operation. Rejects when it could not be sent. */
export async function sendCodeMail(
  mail: CodeMail,
  { key, appName, transport, leftMs, signal }: SendOptions,
): Promise<void> {
  const minutes = Math.max(1, Math.round(leftMs / 60_000))
  const code = codeOf(mail.operationId, key)
  await transport.send(compose(mail, { code, appName, minutes }), signal)
}

type Facts = { code: string; appName: string; minutes: number }

function compose({ to, purpose }: CodeMail, { code, appName, minutes }: Facts): Mail {
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
