import { foldWords } from '../../../contract/text.ts'

const SYNTAX = /[\\^$.*+?()[\]{}|/]/g

let compiled: { words: readonly string[]; pattern: RegExp } | undefined

/** Returns the first of `words` with which a word of the text begins; `fold` compares them. */
export function hiddenWordIn(text: string, words: readonly string[]): string | undefined {
  if (words.length === 0) return undefined
  const found = patternOf(words).exec(fold(text))?.[0]
  return found && words.find((word) => fold(word) === found)
}

/** Returns the same for texts whose words are the same, whatever spaces and hyphens are between. */
export function fold(text: string): string {
  return foldWords(text)
    .replace(/[\s\u2800]+/g, ' ')
    .replace(/\p{Pd}/gu, '-')
}

function patternOf(words: readonly string[]): RegExp {
  if (compiled?.words !== words) {
    const alternatives = words
      .map((word) => fold(word).replace(SYNTAX, '\\$&'))
      // A word of invisible characters would be in every text.
      .filter((word) => word.trim() !== '')
    const any = alternatives.length > 0 ? alternatives.join('|') : '(?!)'
    compiled = { words, pattern: new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})`, 'u') }
  }
  return compiled.pattern
}
