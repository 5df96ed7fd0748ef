import type { ReactNode } from 'react'
import styles from './empty-state.module.css'
import { Mark } from './mark.tsx'

type EmptyStateProps = {
  title: string
  text: ReactNode
  action?: ReactNode
  /** The title is the page's own heading, since the header shows none. */
  isWholePage?: boolean
}

export function EmptyState({ title, text, action, isWholePage = false }: EmptyStateProps) {
  const Title = isWholePage ? 'h1' : 'h2'
  return (
    <div className={styles.empty}>
      <Mark size={40} className={styles.mark} />
      <Title className={styles.title}>{title}</Title>
      <p className={styles.text}>{text}</p>
      {action && <div className={styles.action}>{action}</div>}
    </div>
  )
}
