import { classes } from './classes.ts'
import styles from './spinner.module.css'

type SpinnerProps = { label?: string | undefined; size?: number; className?: string | undefined }

/** A turning ring. With `label` it is announced; without, it decorates something that says so itself. */
export function Spinner({ label, size = 20, className }: SpinnerProps) {
  const ring = <span className={styles.ring} style={{ width: size, height: size }} />
  return label ? (
    <span className={classes(styles.spinner, className)} role="status" aria-label={label}>
      {ring}
    </span>
  ) : (
    <span className={classes(styles.spinner, className)} aria-hidden="true">
      {ring}
    </span>
  )
}
