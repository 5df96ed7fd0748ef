import styles from './monogram.module.css'

const TONES = 8
const ROWS = 4
/** In px, as the tile is 36 px wide and high. */
const ROW_HEIGHT = 9
const MORTAR = 1
const END = 36
/** The possible joints of even and odd rows, so that no joint is above another. */
const JOINTS = [
  [[12], [24], [12, 24], [12, 24]],
  [[18], [8, 18], [18, 28], [8, 28]],
] as const

/** Draws a piece of wall whose bricks and tone follow from the user's name. */
export function Monogram({ name }: { name: string }) {
  const { tone, pale, tinted, full } = drawTile(name)
  const stroke = `var(--tone-${tone})`
  return (
    <svg className={styles.tile} stroke={stroke} viewBox="0 -4.5 36 36" aria-hidden="true">
      <path d={pale} />
      <path d={tinted} />
      <path d={full} />
    </svg>
  )
}

/** Returns a tone from 1 to 8, and SVG paths with a line through the middle of each brick. */
export function drawTile(name: string) {
  const pick = randomPicks(name.toLowerCase())
  const tone = pick(TONES) + 1
  const paths = ['', '', '']
  for (let row = 0; row < ROWS; row++) {
    const kinds = JOINTS[row % 2 === 0 ? 0 : 1]
    const ends = [...(kinds[pick(kinds.length)] ?? []), END]
    let start = 0
    for (const end of ends) {
      const length = end - start - (end === END ? 0 : MORTAR)
      paths[pick(3)] += `M${start} ${row * ROW_HEIGHT}h${length}`
      start = end
    }
  }
  const [pale, tinted, full] = paths
  return { tone, pale, tinted, full }
}

/** Returns a function that picks numbers below `count`, always the same for the same seed. */
function randomPicks(seed: string): (count: number) => number {
  // FNV-1a for the seed, and SplitMix32 for the numbers.
  let state = 2166136261
  for (const char of seed) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 16777619)
  return (count) => {
    state = (state + 0x9e3779b9) | 0
    let bits = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
    return ((bits ^ (bits >>> 15)) >>> 0) % count
  }
}
