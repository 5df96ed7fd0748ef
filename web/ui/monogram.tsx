import styles from './monogram.module.css'

const TONES = 6

/** A user's tile: the first letter of the name on one of six tones. Decoration, since the name always stands beside it. */
export function Monogram({ name }: { name: string }) {
  return (
    <span className={styles.tile} data-tone={monogramTone(name)} aria-hidden="true">
      {monogramLetter(name)}
    </span>
  )
}

/** The first letter or digit of a name in upper case; '?' where it has none. */
export function monogramLetter(name: string): string {
  return name.match(/[\p{L}\p{N}]/u)?.[0].toUpperCase() ?? '?'
}

/** A tone from 1 to 6, always the same for the same name, whatever its case. */
export function monogramTone(name: string): number {
  let hash = 2166136261
  for (const char of name.toLowerCase()) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619)
  }
  // FNV-1a mixes the last letters poorly: without the finalizer of MurmurHash3, names that differ at the end would often
  // share a tone.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (((hash ^ (hash >>> 16)) >>> 0) % TONES) + 1
}
