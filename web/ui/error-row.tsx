import { Button } from './button.tsx'
import styles from './error-row.module.css'

type ErrorRowProps = {
  text: string
  /** May return a promise: the button is pending until it settles. */
  onRetry: () => unknown
}

/** Shown in place of content that could not be loaded, with a button to try again. */
export function ErrorRow({ text, onRetry }: ErrorRowProps) {
  return (
    <div className={styles.row} role="alert">
      <p className={styles.text}>{text}</p>
      <Button size="s" onClick={onRetry}>
        Повторить
      </Button>
    </div>
  )
}
