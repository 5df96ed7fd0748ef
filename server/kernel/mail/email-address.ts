import { domainToASCII, domainToUnicode } from 'node:url'

const OTHER_DOTS = /[\u3002\uff0e\uff61]/g
/** `domainToASCII` would read only the part before some of these characters. */
const NOT_IN_A_DOMAIN = /[^\p{L}\p{M}\p{N}._-]/u

function splitEmail(address: string): { local: string; domain: string } {
  const at = address.lastIndexOf('@')
  return { local: address.slice(0, at), domain: address.slice(at + 1) }
}

/** Returns a domain as the DNS has it, or an empty string if it has other characters. */
function asciiDomain(domain: string): string {
  const plain = fold(domain).replace(OTHER_DOTS, '.').replace(/\.$/, '')
  if (NOT_IN_A_DOMAIN.test(plain)) return ''
  return /[^\0-\x7f]/.test(plain) ? domainToASCII(plain) : plain
}

/** Returns `users.email_key`, equal for addresses that differ in case or in the domain's spelling. */
export function emailKey(address: string): string {
  const { local, domain } = splitEmail(address)
  return `${fold(local)}@${asciiDomain(domain) || fold(domain)}`
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC')
}

export function domainOf(address: string): string {
  return asciiDomain(splitEmail(address).domain)
}

/** Returns `o***@example.org`, which logs may show. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return `${email.slice(0, 1)}***${at < 0 ? '' : email.slice(at)}`
}

const GMAIL = new Set(['gmail.com', 'googlemail.com'])
/** All of these domains are the same mailbox at Yandex. */
const YANDEX = new Set([
  'yandex.ru',
  'ya.ru',
  'yandex.com',
  'yandex.by',
  'yandex.kz',
  'yandex.ua',
  'narod.ru',
])

/** Returns the mailbox of an address, however spelt. It only serves to count mails. */
export function mailboxOf(address: string): string {
  const { local, domain } = splitEmail(emailKey(address))
  const name = local.replace(/(?<=.)\+.*$/, '')
  if (GMAIL.has(domain)) return `${name.replaceAll('.', '')}@gmail.com`
  if (YANDEX.has(domain)) return `${name.replaceAll('-', '.')}@yandex.ru`
  return `${name}@${domain}`
}

const CJK = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo']
const SCRIPTS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Georgian',
  'Cherokee',
]
const SCRIPT_PATTERNS = [
  ...SCRIPTS.map((script) => new RegExp(`\\p{Script=${script}}`, 'u')),
  new RegExp(`[${CJK.map((script) => `\\p{Script=${script}}`).join('')}]`, 'u'),
]

/** Cyrillic letters that look like Latin ones, from Chromium's spoof_checks. */
const LATIN_LOOK = /^[аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡ0-9-]+$/u
const CYRILLIC = /\p{Script=Cyrillic}/u
/** Top-level domains of countries that read Cyrillic, from Chromium too. */
const CYRILLIC_COUNTRIES = new Set(['bg', 'by', 'kz', 'ru', 'su', 'ua', 'uz'])

/** Whether no label mixes scripts, or is a Latin word in Cyrillic letters (`аррӏе.com`). */
export function hasReadableDomain(address: string): boolean {
  const ascii = asciiDomain(splitEmail(address).domain)
  const labels = domainToUnicode(ascii).split('.')
  const country = labels.at(-1) ?? ''
  const readsCyrillic = CYRILLIC.test(country) || CYRILLIC_COUNTRIES.has(country)
  return labels.every((label) => isValidLabel(label) && (readsCyrillic || !looksLatin(label)))
}

function isValidLabel(label: string): boolean {
  // A label that still begins with `xn--` has no Unicode form, so it is invalid.
  if (label === '' || label.length > 63 || label.startsWith('xn--')) return false
  return SCRIPT_PATTERNS.filter((script) => script.test(label)).length <= 1
}

function looksLatin(label: string): boolean {
  return CYRILLIC.test(label) && LATIN_LOOK.test(label)
}

/** Returns an address as mail servers take it: only a domain beyond ASCII is changed. */
export function withUsualDomain(address: string): string {
  const { local, domain } = splitEmail(address)
  if (/^[!-~]+$/.test(domain) && !domain.endsWith('.')) return address
  return `${local}@${domainToUnicode(asciiDomain(domain))}`
}

/** Returns an address with its domain in letters, if those are beyond ASCII; else nothing. */
export function inLetters(address: string): string {
  const { local, domain } = splitEmail(address)
  const shown = domainToUnicode(asciiDomain(domain))
  return /[^\0-\x7f]/.test(shown) ? `${local}@${shown}` : ''
}
