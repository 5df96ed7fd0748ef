import styles from './monogram.module.css'
import { monogramLetter, monogramTone } from './monogram-tone.ts'

type MonogramProps = { name: string; size?: 's' | 'm' | 'l' }

/** A person's tile: a letter on a tone of their own. Decoration, for the name always stands beside it. */
export function Monogram({ name, size = 'm' }: MonogramProps) {
  return (
    <span
      className={styles.tile}
      data-tone={monogramTone(name)}
      data-size={size}
      aria-hidden="true"
    >
      {monogramLetter(name)}
    </span>
  )
}
