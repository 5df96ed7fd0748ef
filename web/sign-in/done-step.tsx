import { settings } from '../browser/page-settings.ts'
import { Spinner } from '../ui/spinner.tsx'
import { AuthShell } from './auth-shell.tsx'
import styles from './steps.module.css'

/** The code was right; the page is about to reload. */
export function DoneStep() {
  return (
    <AuthShell appName={settings().appName} tip="Всё верно, входим...">
      <div className={styles.done}>
        <Spinner label="Входим" size={28} />
      </div>
    </AuthShell>
  )
}
