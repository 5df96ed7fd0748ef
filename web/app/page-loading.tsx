import { Spinner } from '../ui/spinner.tsx'
import styles from './page-loading.module.css'

/** Stands in for a page that is still on its way. */
export function PageLoading() {
  return (
    <div className={styles.loading}>
      <Spinner label="Загружаем страницу" />
    </div>
  )
}
