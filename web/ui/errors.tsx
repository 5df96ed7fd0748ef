import type { ReactNode } from 'react'
import { useReconnect } from '../platform/online.ts'
import { Button } from './button.tsx'
import { EmptyState } from './empty-state.tsx'
import styles from './errors.module.css'

type LoadErrorProps = {
  text: string
  /** May return a promise: the button is pending until it settles. */
  onRetry: () => unknown
}

/** Loads again by itself when the network is back. */
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
  children: ReactNode
  action?: ReactNode
}

/** Keep it mounted while it is empty: only then is a message that appears in it announced. */
export function FormError({ children, action }: FormErrorProps) {
  return (
    <p className={styles.formError} role="alert">
      {children}
      {action}
    </p>
  )
}
