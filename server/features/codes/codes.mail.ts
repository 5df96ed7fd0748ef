import { createHmac } from 'node:crypto'
import { CODE_LENGTH } from '../../../contract/constants.ts'
import { PATHS } from '../../../contract/pages.ts'
import { isLoopback } from '../../kernel/config/config.ts'
import type { Purpose } from '../../kernel/db/tables.ts'
import { minutesInWords } from '../../kernel/errors/words.ts'
import { writeMail } from '../../kernel/mail/mail-body.ts'
import { type MailOptions, readableHost, whenAndWhere } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'
import type { MailKind } from '../../kernel/mail/send-mails.ts'
import type { Mail } from '../../kernel/mail/smtp.ts'
import { chargeRefusal } from '../site-state/mail-reputation.service.ts'
import { lockMailedOperation, storeMailState } from './codes.repository.ts'

/** A queued mail with a code. It contains the operation's id, from which the code is derived. */
export type CodeMail = QueuedMail & {
  purpose: Purpose
  operationId: string
  device: string | null
  /** In unix milliseconds. */
  askedAt: number
}

const WHAT: Record<Purpose, string> = {
  login: 'код для входа',
  registration: 'код для регистрации',
  'email-change': 'код для смены почты',
  'account-deletion': 'код для удаления аккаунта',
}

type WriteOptions = MailOptions & {
  key: Buffer
  ttlSeconds: number
  leftMs: number
}

export function codeMails(
  options: Omit<WriteOptions, 'leftMs'> & { operatorEmails: readonly string[] },
) {
  const code: MailKind<CodeMail> = {
    write: (mail, leftMs) => writeCodeMail(mail, { ...options, leftMs }),
    lock: (tx, { operationId }) => lockMailedOperation(tx, operationId),
    async onOutcome(tx, { operationId, asker }, state) {
      await storeMailState(tx, operationId, { state, ttlSeconds: options.ttlSeconds })
      if (state !== 'refused' || !asker) return
      await chargeRefusal(tx, { asker, operators: options.operatorEmails })
    },
  }
  return { 'send-code': code }
}

export function writeCodeMail(
  { to, purpose, operationId, device, askedAt }: CodeMail,
  options: WriteOptions,
): Mail {
  const { key, origin, ttlSeconds, leftMs } = options
  const minutes = Math.max(1, Math.round(Math.min(ttlSeconds / 60, leftMs / 60_000)))
  const code = deriveCode(operationId, key)
  const lines = [
    { code, what: `ваш ${WHAT[purpose]}` },
    '',
    `Введите его только на сайте ${readableHost(origin)} и никому не сообщайте: он открывает доступ к аккаунту.`,
    `Код действует ${minutesInWords(minutes)}.`,
    '',
    `Код запросили ${whenAndWhere(askedAt, device)}.`,
    ...ifNotYou(purpose, origin),
  ]
  const mail = writeMail({ to, subject: `${code} — ${WHAT[purpose]}` }, lines, options)
  return { ...mail, ...(isTrustworthy(origin) && { otp: { code, origin } }) }
}

/** Whether mail clients may offer the code to the site: only over HTTPS or on loopback. */
function isTrustworthy(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'https:' || isLoopback(hostname)
}

/** Returns the closing lines. Only a signed-in user can request the code of a deletion. */
function ifNotYou(purpose: Purpose, origin: string): string[] {
  if (purpose !== 'account-deletion') return ['Если это были не вы, просто удалите это письмо.']
  return [
    'Если это были не вы, кто-то вошёл в ваш аккаунт. Завершите чужую сессию:',
    '',
    `${origin}${PATHS.devices}`,
  ]
}

/** Derives a code by HMAC-SHA-256 and RFC 4226 (5.3): always the same, so it is not stored. */
export function deriveCode(operationId: string, key: Buffer): string {
  const mac = createHmac('sha256', key).update(operationId).digest()
  const offset = (mac.at(-1) ?? 0) & 0x0f
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** CODE_LENGTH).padStart(CODE_LENGTH, '0')
}
