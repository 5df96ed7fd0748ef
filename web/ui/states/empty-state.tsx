import type { ReactNode } from 'react'
import { classes } from '../classes.ts'
import { Mark } from '../icon.tsx'
import styles from './empty-state.module.css'

export type EmptyStateProps = {
  /** A heading above the title. */
  lead?: string | undefined
  title: string
  text: ReactNode
  note?: string
  action?: ReactNode
  /** Whether the title is the heading of the page, because the header shows none. */
  isWholePage?: boolean
}

export function EmptyState(props: EmptyStateProps) {
  const { lead, title, text, note, action, isWholePage = false } = props
  const Title = isWholePage ? 'h1' : 'h2'
  return (
    <div className={styles.empty} data-lead={lead && ''}>
      <Mark size={40} className={styles.mark} />
      {lead && <h2 className={styles.title}>{lead}</h2>}
      <Title className={styles.title}>{title}</Title>
      <p className={styles.text}>{text}</p>
      {(note || action) && (
        <div className={styles.action}>
          {note && <p className={classes('soft', styles.note)}>{note}</p>}
          {action}
        </div>
      )}
    </div>
  )
}
