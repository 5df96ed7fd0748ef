import { POST_TEXT_MAX } from './constants.ts'

const MARKS_MAX = 8

const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/gu
/**
 * Far more marks than a letter of any script bears. NFC sorts each such run, in time that grows with its square: cut
 * first, 16 KiB of marks cost a millisecond and not a hundred.
 */
const ENDLESS_MARKS = /(?<!\p{M})(\p{M}{32})\p{M}+/gu
/** More than 8 characters that overprint one letter, or that draw nothing and so part no mark from the ones before. */
const MARKS_ON_ONE_LETTER = /\p{M}[\p{M}\p{Default_Ignorable_Code_Point}\p{Cf}]{8,}/gu
/** The part that stays of such a stretch where it has marks beyond it. */
const FIRST_MARKS = new RegExp(`^(?:\\p{M}\\P{M}*){${MARKS_MAX}}(?=\\p{M})`, 'u')
/** Control characters other than line feed, and lone surrogates: no text a person typed has them. */
const FORBIDDEN = /(?!\n)[\p{Cc}\p{Cs}]/u
/** Anything but spaces, controls of format, fillers, marks without a letter, and the symbols that are blank by design. */
const DRAWS =
  /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]/u

/**
 * Brings a post's text to the form it is stored, counted and compared in: bidirectional overrides out, NFC, at most 8
 * combining marks on a letter (more overprint the neighbours), trimmed. Its cost grows with the length of any text alone.
 */
export function normalizeText(raw: string): string {
  return raw
    .replace(BIDI_CONTROLS, '')
    .replace(ENDLESS_MARKS, '$1')
    .normalize('NFC')
    .replace(MARKS_ON_ONE_LETTER, (stretch) => FIRST_MARKS.exec(stretch)?.[0] ?? stretch)
    .trim()
}

/** Length in Unicode code points, which is what the limit of 500 counts. */
export function textLength(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

/** Code points left of the limit for a text as typed; negative when over it. */
export function remainingLength(raw: string): number {
  return POST_TEXT_MAX - textLength(normalizeText(raw))
}

/**
 * The normalised text of a post, or null when it may not be published: over 500 code points, nothing in it that draws, or
 * control characters or lone surrogates.
 */
export function parsePostText(raw: string): string | null {
  if (FORBIDDEN.test(raw)) return null
  const text = normalizeText(raw)
  return DRAWS.test(text) && textLength(text) <= POST_TEXT_MAX ? text : null
}

/** A text as typed or pasted with the line ends and tabs that no post may hold turned into those it may. */
export function tidyTyped(raw: string): string {
  return raw.replace(/\r\n?/gu, '\n').replace(/\t/gu, ' ')
}
