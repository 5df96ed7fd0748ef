const SYNTAX = /[\\^$.*+?()[\]{}|/]/g

let compiled: { words: readonly string[]; pattern: RegExp } | undefined

/** Returns the first of `words` with which a word of the text begins, ignoring case and «ё». */
export function hiddenWordIn(text: string, words: readonly string[]): string | undefined {
  if (words.length === 0) return undefined
  const found = patternOf(words).exec(fold(text))?.[0]
  return found && words.find((word) => fold(word) === found)
}

/** Normalizes case, «ё» and white space. */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll('ё', 'е').replace(/\s+/g, ' ')
}

function patternOf(words: readonly string[]): RegExp {
  if (compiled?.words !== words) {
    const alternatives = words.map((word) => fold(word).replace(SYNTAX, '\\$&')).join('|')
    compiled = { words, pattern: new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives})`, 'u') }
  }
  return compiled.pattern
}
