import { Spinner } from '../ui/spinner.tsx'
import styles from './dialog-loading.module.css'

/** Says that a window is on its way, if it is not there at once. The page below stays as it is. */
export function DialogLoading() {
  return (
    <div className={styles.loading}>
      <div className={styles.tile}>
        <Spinner label="Открываем окно" />
      </div>
    </div>
  )
}
