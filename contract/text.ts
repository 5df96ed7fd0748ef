import { POST_TEXT_MAX } from './limits.ts'

const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/gu
const LONG_MARK_RUNS = /(\p{M}{8})\p{M}+/gu
/** Control characters other than line feed, and lone surrogates: no text a person typed has them. */
const FORBIDDEN = /(?!\n)[\p{Cc}\p{Cs}]/u
const INVISIBLE_ONLY = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]*$/u

/**
 * Brings a post's text to the form it is stored, counted and compared in: bidirectional overrides out, NFC,
 * runs of more than 8 combining marks cut (they overprint the neighbours), trimmed.
 */
export function normalizeText(raw: string): string {
  return raw.replace(BIDI_CONTROLS, '').normalize('NFC').replace(LONG_MARK_RUNS, '$1').trim()
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
 * The normalised text of a post, or null when it may not be published: empty, over 500 code points, nothing visible in
 * it, or with control characters or lone surrogates.
 */
export function parsePostText(raw: string): string | null {
  if (FORBIDDEN.test(raw)) return null
  const text = normalizeText(raw)
  return INVISIBLE_ONLY.test(text) || textLength(text) > POST_TEXT_MAX ? null : text
}

/** A text as typed or pasted with the line ends and tabs that no post may hold turned into those it may. */
export function tidyTyped(raw: string): string {
  return raw.replace(/\r\n?/gu, '\n').replace(/\t/gu, ' ')
}
