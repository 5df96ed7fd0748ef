import { isEmail } from '../../contract/account-rules.ts'
import { CODE_LENGTH } from '../../contract/constants.ts'

/** Invisible characters, which messengers and pages put into copied text. */
const INVISIBLE = /[\p{Cf}\p{DI}]/gu

/** Returns the one address in a text such as «Anna <anna@example.org>»; otherwise the text. */
export function emailIn(text: string): string {
  const visible = text.replace(INVISIBLE, '').trim()
  if (isEmail(visible) && !/^mailto:/i.test(visible)) return visible
  const words = visible.split(/[\s<>()[\]"«»,;]+/)
  const addresses = new Set(
    words.map((word) => word.replace(/^mailto:|\?.*$/gi, '')).filter(isEmail),
  )
  const [only] = addresses
  return only !== undefined && addresses.size === 1 ? only : visible
}

const SOLID = /(?<!\d)\d{6}(?!\d)/g
const SPACED = /(?<!\d)(?:\d{3}[\s-]\d{3}|\d\d[\s-]\d\d[\s-]\d\d)(?!\d)/g

export function codeDigits(text: string): string {
  return text.normalize('NFKC').replace(/\D/g, '').slice(0, CODE_LENGTH)
}

/**
 * Returns the code after a paste: a single group of six digits replaces what was typed, and up to
 * five digits are appended. From any other text the code `isGuess`, and is not sent automatically.
 */
export function pasteCode(typed: string, pasted: string): { code: string; isGuess: boolean } {
  const text = pasted.normalize('NFKC').replace(INVISIBLE, '').trim()
  const groups = text.match(SOLID) ?? text.match(SPACED) ?? []
  const [only] = groups
  if (only !== undefined && groups.length === 1) return { code: codeDigits(only), isGuess: false }
  if (/^[\d\s-]{1,5}$/.test(text)) return { code: codeDigits(typed + text), isGuess: false }
  const digits = codeDigits(text)
  return {
    code: digits.length === CODE_LENGTH ? digits : codeDigits(typed + digits),
    isGuess: true,
  }
}
