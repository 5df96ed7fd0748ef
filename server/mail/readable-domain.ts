import { domainToUnicode } from 'node:url'
import { asciiDomain, splitEmail } from '../db/email-key.ts'

/** Scripts that are written together. */
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

/** Cyrillic letters that look like Latin ones: Chromium's list (components/url_formatter/spoof_checks). */
const LATIN_LOOK = /^[аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡ0-9-]+$/u
const CYRILLIC = /\p{Script=Cyrillic}/u
/** Where Cyrillic is read by everybody; Chromium's list too. */
const CYRILLIC_COUNTRIES = new Set(['bg', 'by', 'kz', 'ru', 'su', 'ua', 'uz'])

/**
 * Whether a person can tell the domain of an address from another by looking at it: it is one, no label mixes scripts,
 * and none is a Latin word spelt in Cyrillic letters (`аррӏе.com`).
 */
export function hasReadableDomain(address: string): boolean {
  const ascii = asciiDomain(splitEmail(address).domain)
  const labels = domainToUnicode(ascii).split('.')
  const country = labels.at(-1) ?? ''
  const isCyrillicsHome = CYRILLIC.test(country) || CYRILLIC_COUNTRIES.has(country)
  return labels.every((label) => isLabel(label) && (isCyrillicsHome || !looksLatin(label)))
}

function isLabel(label: string): boolean {
  // A label that is still `xn--…` here has no Unicode form: it is not valid.
  if (label === '' || label.length > 63 || label.startsWith('xn--')) return false
  return SCRIPT_PATTERNS.filter((script) => script.test(label)).length <= 1
}

function looksLatin(label: string): boolean {
  return CYRILLIC.test(label) && LATIN_LOOK.test(label)
}

/** An address as mail servers take it: a domain that is not plain ASCII in its usual form, the rest as it was typed. */
export function withUsualDomain(address: string): string {
  const { local, domain } = splitEmail(address)
  if (/^[!-~]+$/.test(domain) && !domain.endsWith('.')) return address
  return `${local}@${domainToUnicode(asciiDomain(domain))}`
}
