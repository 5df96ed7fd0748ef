import { POST_TEXT_MAX, UNSEEN_IN_WORDS } from './constants.ts'

const MARKS_MAX = 8

const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/gu
/** Matches long runs of marks. They are cut first, because NFC sorts them in quadratic time. */
const ENDLESS_MARKS = /(?<!\p{M})(\p{M}{32})\p{M}+/gu
/** Matches nine or more marks, with the invisible characters between them. */
const MARKS_ON_ONE_LETTER = /\p{M}[\p{M}\p{Default_Ignorable_Code_Point}\p{Cf}]{8,}/gu
const FIRST_MARKS = new RegExp(`^(?:\\p{M}\\P{M}*){${MARKS_MAX}}(?=\\p{M})`, 'u')
/** Matches control characters except the line feed, and lone surrogates: no person types them. */
const FORBIDDEN = /(?!\n)[\p{Cc}\p{Cs}]/u
/** Matches all except spaces, format controls, fillers, marks without a letter, blank symbols. */
const VISIBLE =
  /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]/u

/** Returns a text as it is stored, counted and compared. Takes linear time. */
export function normalizeText(raw: string): string {
  return raw
    .replace(BIDI_CONTROLS, '')
    .replace(ENDLESS_MARKS, '$1')
    .normalize('NFC')
    .replace(MARKS_ON_ONE_LETTER, (run) => FIRST_MARKS.exec(run)?.[0] ?? run)
    .trim()
}

/** Returns a text of one line as it is stored and compared. */
export function normalizeLine(raw: string): string {
  return normalizeText(raw).replace(/\s+/gu, ' ')
}

export function textLength(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

export function remainingLength(raw: string): number {
  return POST_TEXT_MAX - textLength(normalizeText(raw))
}

/** Returns whether a text has a visible character. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text)
}

/** Returns the text as it is stored; null if it may not be published. */
export function parsePostText(raw: string): string | null {
  if (FORBIDDEN.test(raw)) return null
  const text = normalizeText(raw)
  return isVisible(text) && textLength(text) <= POST_TEXT_MAX ? text : null
}

const UNSEEN = new RegExp(`${UNSEEN_IN_WORDS}+`, 'gu')

/**
 * Returns a normalized text as its words are compared by search and hidden words: in small letters,
 * «ё» as «е», without UNSEEN_IN_WORDS. `search_text` in the database does the same.
 */
export function foldWords(text: string): string {
  return text.toLowerCase().replace(UNSEEN, '').replace(/[ёѐ]/g, 'е').replaceAll('ѝ', 'и')
}

/**
 * Removes FORBIDDEN characters from a typed text; tabs become spaces, and line ends line feeds, also
 * those that word processors put into copied texts, which browsers do not show.
 */
export function tidyTypedText(raw: string): string {
  return raw
    .replace(/\r\n?|[\v\f\x85\u2028\u2029]/gu, '\n')
    .replace(/\t/gu, ' ')
    .split(FORBIDDEN)
    .join('')
}
