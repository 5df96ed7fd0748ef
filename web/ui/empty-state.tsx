import type { ReactNode } from 'react'
import styles from './empty-state.module.css'
import { Mark } from './mark.tsx'

type EmptyStateProps = {
  title: string
  text: string
  action?: ReactNode
}

/** Says that there is nothing here, and what may be done about it. */
export function EmptyState({ title, text, action }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <Mark size={40} className={styles.mark} />
      <h2 className={styles.title}>{title}</h2>
      <p className={styles.text}>{text}</p>
      {action && <div className={styles.action}>{action}</div>}
    </div>
  )
}
