const TONES = 6

/** The letter that stands for a name: its first letter or digit, large; '?' where it has none. */
export function monogramLetter(name: string): string {
  return name.match(/[\p{L}\p{N}]/u)?.[0].toUpperCase() ?? '?'
}

/** A tone from 1 to 6, always the same for the same name in whatever case. */
export function monogramTone(name: string): number {
  let hash = 2166136261
  for (const char of name.toLowerCase()) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619)
  }
  // FNV-1a mixes its last letters poorly: names that differ at the end would share a tone too often.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (((hash ^ (hash >>> 16)) >>> 0) % TONES) + 1
}
