import type { ReactNode } from 'react'
import styles from './empty-state.module.css'
import { Mark } from './mark.tsx'

type EmptyStateProps = {
  /** A heading above the title. */
  lead?: string | undefined
  title: string
  text: ReactNode
  action?: ReactNode
  /** Whether the title is the heading of the page, because the header shows none. */
  isWholePage?: boolean
}

export function EmptyState({ lead, title, text, action, isWholePage = false }: EmptyStateProps) {
  const Title = isWholePage ? 'h1' : 'h2'
  return (
    <div className={styles.empty} data-lead={lead && ''}>
      <Mark size={40} className={styles.mark} />
      {lead && <h2 className={styles.title}>{lead}</h2>}
      <Title className={styles.title}>{title}</Title>
      <p className={styles.text}>{text}</p>
      {action && <div className={styles.action}>{action}</div>}
    </div>
  )
}
