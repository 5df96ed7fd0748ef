/** A search as `websearch_to_tsquery` reads it, and its last word where that may be a beginning. */
export type SearchWords = { text: string; prefix: string | null }

/** Fewer letters begin too many words. */
const LAST_WORD = /(?:^|\s)([\p{L}\p{N}]{3,})$/u

/** Leaves words, quotes and leading minuses; as `search_text` in the database does with posts. */
export function searchWords(q: string): SearchWords {
  const text = q
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replace(/[\u0300\u0301\u00AD]/g, '')
    .replace(/[«»„“”]/g, '"')
    .replace(/[^\p{L}\p{N}"-]+/gu, ' ')
    .replace(/(?<=[^\s])-|-(?![\p{L}\p{N}"])/gu, ' ')
    .trim()
  const isInPhrase = text.split('"').length % 2 === 0
  return { text, prefix: isInPhrase ? null : (LAST_WORD.exec(text)?.[1] ?? null) }
}
