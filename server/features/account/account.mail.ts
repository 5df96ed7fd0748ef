import { createHmac } from 'node:crypto'
import { formatTime } from '../../../contract/dates.ts'
import { PATHS } from '../../../contract/pages.ts'
import { toOneLine, writeMail } from '../../kernel/mail/mail-body.ts'
import { type NoticeOptions, whenAndWhere } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'
import type { Mail } from '../../kernel/mail/smtp.ts'

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

export type ChangedPasskey = {
  name: string
  isRemoval: boolean
  /** When and with which device; absent in a mail that repeats a link. */
  at?: number
  device?: string | null
}

export type PasskeyNotice = QueuedMail &
  ChangedPasskey & { username: string; changeId: string; expiresAt: number }

type WriteOptions = NoticeOptions & { undoKey: Buffer }

export const accountMails = (options: WriteOptions) => ({
  'send-email-notice': { write: (mail: EmailNotice) => writeEmailNotice(mail, options) },
  'send-new-email-notice': { write: (mail: NewEmailNotice) => writeNewEmailNotice(mail, options) },
  'send-passkey-notice': { write: (mail: PasskeyNotice) => writePasskeyNotice(mail, options) },
})

function writeEmailNotice(
  { to, username, changeId, expiresAt, reason }: EmailNotice,
  options: WriteOptions,
): Mail {
  const { appName, contact } = options
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
    undoLink(changeId, PATHS.emailUndo, options),
    '',
    'Все сессии завершатся, ключи доступа станут такими, как до смены, а код для входа будет приходить на этот адрес. Если аккаунт успели удалить, он вернётся целиком.',
    ...linkLines(expiresAt, contact),
  ]
  return writeMail({ to, subject: 'Почта аккаунта изменена' }, lines, options)
}

function writeNewEmailNotice(
  { to, username, reason, undoableUntil }: NewEmailNotice,
  options: WriteOptions,
): Mail {
  const { appName, origin, contact } = options
  const lines = [
    `Аккаунт ${username} на сайте «${appName}» теперь привязан к этой почте.`,
    `Так сделали те, кто ведёт сайт. Причина: ${reason}`,
    '',
    'Все прежние сессии завершены, ключи доступа удалены. Чтобы войти, откройте сайт и укажите этот адрес: придёт код.',
    '',
    origin,
    '',
    `До ${formatTime(undoableUntil)} это можно отменить по ссылке из письма на прежнюю почту.`,
    ...(contact ? ['', `Если вы об этом не просили, напишите нам: ${contact}`] : []),
  ]
  return writeMail({ to, subject: 'Почта аккаунта изменена' }, lines, options)
}

function writePasskeyNotice(
  { to, username, changeId, expiresAt, name, isRemoval, at, device = null }: PasskeyNotice,
  options: WriteOptions,
): Mail {
  const { appName, contact } = options
  const [what, effect] = isRemoval
    ? ['удалён ключ доступа', 'Ключ снова будет действовать']
    : ['добавлен ключ доступа', 'Ключ перестанет действовать']
  const lines = [
    `В аккаунте ${username} на сайте «${appName}» ${what} «${toOneLine(name)}»${at ? ':' : '.'}`,
    ...(at ? [`${whenAndWhere(at, device)}.`] : []),
    ...(isRemoval ? [] : ['С ним можно войти без кода из письма.']),
    '',
    'Если это сделали вы, ничего делать не нужно.',
    'Если нет, кто-то получил доступ к вашему аккаунту. Отмените это по ссылке:',
    '',
    undoLink(changeId, PATHS.passkeyUndo, options),
    '',
    `${effect}, все сессии завершатся, а код для входа будет приходить на этот адрес, даже если почту успели сменить.`,
    ...linkLines(expiresAt, contact),
  ]
  const subject = isRemoval ? 'Удалён ключ доступа' : 'Добавлен ключ доступа'
  return writeMail({ to, subject }, lines, options)
}

function undoLink(changeId: string, path: string, { origin, undoKey }: WriteOptions): string {
  // Browsers do not send what follows the `#`, so no log and no other site sees it.
  return `${origin}${path}#${changeId}.${undoSecret(changeId, undoKey)}`
}

function linkLines(expiresAt: number, contact: string | undefined): string[] {
  return [
    `Ссылка действует до ${formatTime(expiresAt)}. Никому её не пересылайте.`,
    ...(contact ? ['', `Если ссылка не поможет, напишите нам: ${contact}`] : []),
  ]
}

/** Returns the HMAC-SHA-256 of a change's id, which is always the same, so it is not stored. */
export function undoSecret(changeId: string, key: Buffer): string {
  return createHmac('sha256', key).update(changeId).digest('hex')
}
