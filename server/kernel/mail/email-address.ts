import { domainToASCII, domainToUnicode } from 'node:url'
import { NOT_IN_A_DOMAIN } from '../../../contract/account-rules.ts'

const OTHER_DOTS = /[\u3002\uff0e\uff61]/g

function splitEmail(address: string): { local: string; domain: string } {
  const at = address.lastIndexOf('@')
  return { local: address.slice(0, at), domain: address.slice(at + 1) }
}

/** Returns a domain in ASCII, or an empty string if it has invalid characters. */
function asciiDomain(domain: string): string {
  const plain = fold(domain).replace(OTHER_DOTS, '.').replace(/\.$/, '')
  // domainToASCII() would ignore what follows some of these characters.
  if (NOT_IN_A_DOMAIN.test(plain)) return ''
  return /[^\0-\x7f]/.test(plain) ? domainToASCII(plain) : plain
}

/** Returns `users.email_key`, equal for addresses that differ in case or spelling of the domain. */
export function emailKey(address: string): string {
  const { local, domain } = splitEmail(address)
  return `${fold(local)}@${asciiDomain(domain) || fold(domain)}`
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC')
}

/** Returns the domain in ASCII, or an empty string if it is invalid. */
export function domainOf(address: string): string {
  return asciiDomain(splitEmail(address).domain)
}

/** Returns an address as `o***@example.org`, which logs may show. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return `${email.slice(0, 1)}***${at < 0 ? '' : email.slice(at)}`
}

const GMAIL = new Set(['gmail.com', 'googlemail.com'])
/** Yandex delivers mails to any of these domains to the same mailbox. */
const YANDEX = new Set([
  'yandex.ru',
  'ya.ru',
  'yandex.com',
  'yandex.by',
  'yandex.kz',
  'yandex.ua',
  'narod.ru',
])

/** Domains in which anybody can open a mailbox, besides those above. */
const OTHER_PROVIDERS = new Set(
  [
    'mail.ru inbox.ru list.ru bk.ru internet.ru xmail.ru vk.com rambler.ru lenta.ru autorambler.ru',
    'myrambler.ru ro.ru outlook.com hotmail.com live.com live.ru msn.com icloud.com me.com mac.com',
    'yahoo.com ymail.com aol.com proton.me protonmail.com pm.me gmx.com gmx.net gmx.de web.de',
    'mail.com email.com ukr.net i.ua meta.ua mail.ua tut.by inbox.lv mail.ee mail.bg zoho.com',
    'fastmail.com tuta.io tutanota.com duck.com qq.com 163.com',
  ].flatMap((line) => line.split(' ')),
)

/**
 * Returns the domain that belongs to one organisation or person: its last two labels, because one
 * owner has all subdomains. Returns undefined if the mailbox is a public provider's.
 */
export function privateDomainOf(address: string): string | undefined {
  const domain = domainOf(address)
  const isPublic = [GMAIL, YANDEX, OTHER_PROVIDERS].some((provider) => provider.has(domain))
  return isPublic || domain === '' ? undefined : domain.split('.').slice(-2).join('.')
}

/** Returns the same string for all spellings of a mailbox. Mails are not sent to it. */
export function mailboxOf(address: string): string {
  const { local, domain } = splitEmail(emailKey(address))
  const name = local.replace(/(?<=.)\+.*$/, '')
  if (GMAIL.has(domain)) return `${name.replaceAll('.', '')}@gmail.com`
  if (YANDEX.has(domain)) return `${name.replaceAll('-', '.')}@yandex.ru`
  return `${name}@${domain}`
}

/** Returns whether the domain is valid, and no label mixes Latin and Cyrillic letters. */
export function hasReadableDomain(address: string): boolean {
  const ascii = asciiDomain(splitEmail(address).domain)
  return domainToUnicode(ascii).split('.').every(isReadable)
}

function isReadable(label: string): boolean {
  // A label that still begins with `xn--` has no Unicode form, so it is invalid.
  if (label === '' || label.length > 63 || label.startsWith('xn--')) return false
  return !(/\p{Script=Latin}/u.test(label) && /\p{Script=Cyrillic}/u.test(label))
}

/** Returns an address with its domain in the usual form; an ASCII domain stays as it is. */
export function withUsualDomain(address: string): string {
  const { local, domain } = splitEmail(address)
  if (/^[!-~]+$/.test(domain) && !domain.endsWith('.')) return address
  return `${local}@${domainToUnicode(asciiDomain(domain))}`
}

/** Returns an address with its domain in Unicode, or an empty string if the domain is ASCII. */
export function unicodeEmail(address: string): string {
  const { local, domain } = splitEmail(address)
  const shown = domainToUnicode(asciiDomain(domain))
  return /[^\0-\x7f]/.test(shown) ? `${local}@${shown}` : ''
}
