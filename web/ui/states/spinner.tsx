import { classes } from '../classes.ts'
import styles from './spinner.module.css'

type SpinnerProps = { label?: string | undefined; size?: number; className?: string | undefined }

/** Shows a spinner. Without `label`, screen readers ignore it: the element around is announced. */
export function Spinner({ label, size = 20, className }: SpinnerProps) {
  const announced = label ? { role: 'status', 'aria-label': label } : { 'aria-hidden': true }
  return (
    <span {...announced} className={classes(styles.spinner, className)}>
      <span className={styles.ring} style={{ width: size, height: size }} />
    </span>
  )
}

export function Loading({ label }: { label: string }) {
  return (
    <div className={styles.loading}>
      <Spinner label={label} />
    </div>
  )
}
