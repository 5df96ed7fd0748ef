import { emailKey, splitEmail } from '../db/email-key.ts'

const GMAIL = new Set(['gmail.com', 'googlemail.com'])
/** One Yandex mailbox answers to all of these. */
const YANDEX = new Set([
  'yandex.ru',
  'ya.ru',
  'yandex.com',
  'yandex.by',
  'yandex.kz',
  'yandex.ua',
  'narod.ru',
])

/**
 * The mailbox an address leads to, however it is spelt: without a subaddress (RFC 5233: `+tag`), at Gmail without dots,
 * at Yandex with a dot for a hyphen. It is there to be counted by: no mail goes to it, and accounts keep their tags.
 */
export function mailboxOf(address: string): string {
  const { local, domain } = splitEmail(emailKey(address))
  const name = local.replace(/(?<=.)\+.*$/, '')
  if (GMAIL.has(domain)) return `${name.replaceAll('.', '')}@gmail.com`
  if (YANDEX.has(domain)) return `${name.replaceAll('-', '.')}@yandex.ru`
  return `${name}@${domain}`
}
