import styles from './loading.module.css'
import { Spinner } from './spinner.tsx'

/** Stands in the middle of the place of something on its way, whose `label` is announced. */
export function Loading({ label }: { label: string }) {
  return (
    <div className={styles.loading}>
      <Spinner label={label} />
    </div>
  )
}
