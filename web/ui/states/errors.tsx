import { type ComponentProps, type ReactNode, useState } from 'react'
import { useReconnect } from '../../platform/online.ts'
import { Button } from '../button.tsx'
import { classes } from '../classes.ts'
import { liveRegion } from '../live-region.ts'
import styles from './empty-state.module.css'
import { EmptyState, type EmptyStateProps } from './empty-state.tsx'

type LoadErrorProps = {
  text: string
  onRetry: Retry
}

/** Repeats what has failed. The button is pending until a returned promise settles. */
type Retry = () => unknown

export function ErrorRow({ text, onRetry }: LoadErrorProps) {
  return (
    <div className={classes('spread', styles.row)} role="alert">
      <p className={styles.reason}>{text}</p>
      <RetryButton size="s" onRetry={onRetry} />
    </div>
  )
}

type ErrorPageProps = LoadErrorProps &
  Partial<Pick<EmptyStateProps, 'title' | 'isWholePage'>> & { retryLabel?: string }

export function ErrorPage({ onRetry, retryLabel, ...state }: ErrorPageProps) {
  const retry = (
    <RetryButton variant="strong" onRetry={onRetry}>
      {retryLabel}
    </RetryButton>
  )
  return (
    <div role="alert">
      <EmptyState title="Не получилось загрузить" {...state} action={retry} />
    </div>
  )
}

/** Retries at a press, and by itself when the network is back. */
export function RetryButton({
  onRetry,
  children = 'Повторить',
  ...look
}: { onRetry: Retry } & ComponentProps<typeof Button>) {
  const [pending, setPending] = useState(false)
  useReconnect(() => void retry())

  async function retry(): Promise<void> {
    setPending(true)
    await onRetry()
    setPending(false)
  }

  return (
    <Button {...look} pending={pending} onClick={() => void retry()}>
      {children}
    </Button>
  )
}

type FormErrorProps = {
  children: ReactNode
  action?: ReactNode
}

/** Shows an error. Keep it mounted while it is empty, or screen readers do not announce it. */
export function FormError({ children, action }: FormErrorProps) {
  return (
    <p
      className={classes('spread', styles.formError)}
      {...liveRegion(Boolean(children || action), 'alert')}
    >
      {children && (
        <span className={styles.formErrorText} ref={bringIntoView}>
          {children}
        </span>
      )}
      {action}
    </p>
  )
}

/** A ref that scrolls to an element when it appears, unless it is in sight. */
export function bringIntoView(shown: HTMLElement | null): void {
  shown?.scrollIntoView({ block: 'nearest' })
}
