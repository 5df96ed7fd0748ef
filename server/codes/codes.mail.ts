import { createHmac } from 'node:crypto'
import { CODE_LENGTH } from '../../contract/constants.ts'
import type { Purpose } from '../db/tables.ts'
import type { MailTransport } from '../mail/transport.ts'

/** A queued mail with a code. It names the operation, not the code; sending it derives the code. */
export type CodeMail = {
  to: string
  purpose: Purpose
  operationId: string
  /** When the code expires, in unix milliseconds. The mail is not sent after it. */
  expiresAt: number
  /** The device that asks, such as «Firefox, Linux», where it is known; when it asked, in unix milliseconds. */
  device: string | null
  askedAt: number
}

const WHAT: Record<Purpose, string> = {
  login: 'код для входа',
  registration: 'код для регистрации',
  'email-change': 'код для смены почты',
  'account-deletion': 'код для удаления аккаунта',
}

const ASKED = new Intl.DateTimeFormat('ru', {
  day: 'numeric',
  month: 'long',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'Europe/Moscow',
})

type SendOptions = {
  key: Buffer
  appName: string
  /** The origin people see: its host is the only place for the code. */
  origin: string
  transport: MailTransport
  /** Milliseconds until the code expires. */
  leftMs: number
  /** Aborts when the process is about to end. */
  signal: AbortSignal
}

/** Writes and sends the mail of an operation. Rejects when it was not sent. */
export async function sendCodeMail(
  { to, purpose, operationId, device, askedAt }: CodeMail,
  { key, appName, origin, transport, leftMs, signal }: SendOptions,
): Promise<void> {
  const minutes = Math.max(1, Math.round(leftMs / 60_000))
  const code = codeOf(operationId, key)
  const mail = {
    to,
    subject: `${code} — ${WHAT[purpose]} · ${appName}`,
    text: [
      `${code} — ваш ${WHAT[purpose]}.`,
      '',
      `Введите его только на сайте ${new URL(origin).host} и никому не сообщайте: он открывает доступ к аккаунту.`,
      `Код действует ещё ${minutes} мин.`,
      '',
      `Код запросили ${ASKED.format(askedAt)} по Москве${device === null ? '' : `, ${device}`}.`,
      'Если это были не вы, просто удалите это письмо.',
    ].join('\n'),
  }
  await transport.send(mail, signal)
}

/**
 * The six-digit code of an operation: HMAC-SHA-256 of its id, truncated as RFC 4226 section 5.3 does. The same
 * operation always has the same code, so none is stored.
 */
export function codeOf(operationId: string, key: Buffer): string {
  const mac = createHmac('sha256', key).update(operationId).digest()
  const offset = (mac.at(-1) ?? 0) & 0x0f
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** CODE_LENGTH).padStart(CODE_LENGTH, '0')
}
