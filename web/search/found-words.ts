/** Makes a pattern that finds whole words in any case, with «ё» or «е». */
export function foundWords(words: readonly string[]): RegExp | null {
  if (words.length === 0) return null
  const forms = words.map((word) => word.replaceAll('е', '[её]')).join('|')
  return new RegExp(`(?<![\\p{L}\\p{N}])(${forms})(?![\\p{L}\\p{N}])`, 'giu')
}
