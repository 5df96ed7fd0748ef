import { classes } from './classes.ts'
import styles from './spinner.module.css'

type SpinnerProps = { label?: string | undefined; size?: number; className?: string | undefined }

/** A turning ring. With `label` it is announced; without, it decorates an element that is announced itself. */
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

/** A spinner in the middle of the place where something is loading; `label` is announced. */
export function Loading({ label }: { label: string }) {
  return (
    <div className={styles.loading}>
      <Spinner label={label} />
    </div>
  )
}
