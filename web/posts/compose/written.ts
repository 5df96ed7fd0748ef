import { WRITTEN_FIELD_NAMES } from '../../../contract/post-rules.ts'
import type { PostBody } from '../../../contract/posts.ts'
import { normalizeText } from '../../../contract/text.ts'

/** What an author sets in the form of a post or reply; a stored text has it. */
export type Written = PostBody

/** Returns only these fields of a post or of a stored text, without unset ones. */
export function writtenOf(source: Written): Written {
  const set = WRITTEN_FIELD_NAMES.filter((field) => source[field])
  return { text: '', ...Object.fromEntries(set.map((field) => [field, source[field]])) }
}

/** Returns whether the server would store the same. */
export function isSame(one: Written, other: Written): boolean {
  const stored = (it: Written) => JSON.stringify({ ...writtenOf(it), text: normalizeText(it.text) })
  return stored(one) === stored(other)
}

/** Appends a text as the last paragraph, unless it is that already. */
export function append(written: Written | null, more: Written): Written {
  const [before, after] = [written?.text ?? '', more.text]
  const isThere = `\n\n${before}`.endsWith(`\n\n${after}`)
  const text = (isThere ? [before] : [before, after]).filter(Boolean).join('\n\n')
  return { ...writtenOf(more), ...written, text }
}
