import { isEmail } from '../../contract/account-rules.ts'
import { CODE_LENGTH } from '../../contract/constants.ts'

/** Invisible characters, which messengers and pages put into copied text. */
const INVISIBLE = /[\p{Cf}\p{DI}]/gu

/** Removes invisible characters, and spaces at both ends: a keyboard may insert copied text. */
export function withoutUnseen(text: string): string {
  return text.replace(INVISIBLE, '').trim()
}

/** Returns the one address in a pasted text such as «Anna <anna@example.org>»; otherwise the text. */
export function emailIn(text: string): string {
  const visible = withoutUnseen(text)
  const words = isEmail(visible) ? [visible] : visible.split(/(?:[\s<>()[\]"«»,;]|:\/*)+/)
  const [only, ...others] = words.map(withoutFrame).filter(isEmail)
  const isSame = (other: string) => other.toLowerCase() === only?.toLowerCase()
  return only !== undefined && others.every(isSame) ? only : visible
}

/** Removes a link's parameters, marks on both sides, and what no address begins or ends with. */
function withoutFrame(word: string): string {
  return word
    .replace(/\?.*$/, '')
    .replace(/^([\p{P}\p{S}]+)(.*)\1[^\p{L}\p{M}\p{N}]*$/u, '$2')
    .replace(/^[^\p{ASCII}\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu, '')
}

const SOLID = /(?<!\d)\d{6}(?!\d)/g
/** Matches six digits in two or three groups, which are no part of a longer number. */
const SPACED =
  /(?<!\d[\s\p{Dash}]{0,3})(?:\d{3}[\s\p{Dash}]{1,3}\d{3}|\d\d[\s\p{Dash}]{1,3}\d\d[\s\p{Dash}]{1,3}\d\d)(?![\s\p{Dash}]{0,3}\d)/gu
/** Matches a code or a part of a code, without any words. */
const BARE = /^\d(?:[\s\p{Dash}.]{0,3}\d){0,5}$/u

/** Matches a code that stands alone, or digits that are typed or added to a part of it. */
const ALONE = /^(?:\d{3}[\s\p{Dash}]{0,3}\d{3}|\d{0,5})$/u

export function codeDigits(text: string): string {
  return plain(text).replace(/\D/g, '').slice(0, CODE_LENGTH)
}

/** Converts Arabic and Persian digits to ASCII digits, which have the same last four bits. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15))
}

export type EnteredCode = {
  code: string
  /** Whether the digits may be no code. They are shown, and not sent automatically. */
  isGuess: boolean
}

/**
 * Returns the code in a field that holds `entered` after a key, or after a password manager, a
 * keyboard or an extension has filled it. A filled text is a code only if it has nothing else.
 */
export function enterCode(typed: string, entered: string): EnteredCode {
  const isAdded = typed !== '' && entered.startsWith(typed)
  const text = plain(isAdded ? entered.slice(typed.length) : entered).trim()
  const digits = codeDigits(text)
  const isFull = digits.length === CODE_LENGTH
  return {
    code: isAdded && !isFull ? codeDigits(typed + digits) : digits,
    // Six digits more may be the end of a longer number.
    isGuess: !ALONE.test(text) || (isAdded && isFull),
  }
}

/**
 * Returns the code after a paste: a single group of six digits replaces what was typed, and up to
 * five digits are appended. The code from any other text is a guess.
 */
export function pasteCode(typed: string, pasted: string): EnteredCode {
  const text = plain(pasted).trim()
  const groups = new Set((text.match(SOLID) ?? text.match(SPACED) ?? []).map(codeDigits))
  const [only] = groups
  if (only !== undefined && groups.size === 1) return { code: only, isGuess: false }
  const digits = codeDigits(text)
  return {
    code: digits.length === CODE_LENGTH ? digits : codeDigits(typed + digits),
    isGuess: !BARE.test(text),
  }
}
