import type { ReactNode } from 'react'
import { useReconnect } from '../browser/online.ts'
import { Button } from './button.tsx'
import { EmptyState } from './empty-state.tsx'
import styles from './errors.module.css'

type LoadErrorProps = {
  text: string
  /** May return a promise: the button is pending until it settles. */
  onRetry: () => unknown
}

/**
 * Shown in place of content that could not be loaded, with a button to try again. It tries by itself when the network is
 * back.
 */
export function ErrorRow({ text, onRetry }: LoadErrorProps) {
  useReconnect(() => void onRetry())
  return (
    <div className={styles.row} role="alert">
      <p className={styles.text}>{text}</p>
      <Button size="s" onClick={onRetry}>
        Повторить
      </Button>
    </div>
  )
}

/** As ErrorRow, for a page that has nothing else to show. */
export function ErrorPage({ text, onRetry }: LoadErrorProps) {
  useReconnect(() => void onRetry())
  return (
    <div role="alert">
      <EmptyState
        title="Не получилось загрузить"
        text={text}
        action={
          <Button variant="strong" onClick={onRetry}>
            Повторить
          </Button>
        }
      />
    </div>
  )
}

type FormErrorProps = {
  /** The error message; nothing without an error. */
  children: ReactNode
  /** A button that helps, at the end of the line. */
  action?: ReactNode
}

/** The error of a form. Keep it mounted while it is empty: only then is a message that appears in it announced. */
export function FormError({ children, action }: FormErrorProps) {
  return (
    <p className={styles.formError} role="alert">
      {children}
      {action}
    </p>
  )
}
