import styles from './monogram.module.css'
import { monogramLetter, monogramTone } from './monogram-tone.ts'

/** A person's tile: a letter on a tone of their own. Decoration, for the name always stands beside it. */
export function Monogram({ name }: { name: string }) {
  return (
    <span className={styles.tile} data-tone={monogramTone(name)} aria-hidden="true">
      {monogramLetter(name)}
    </span>
  )
}
