import type { ReactNode } from 'react'
import styles from './rail-label.module.css'

/** The words beside an icon of the rail: seen where there is room, always there for screen readers. */
export function RailLabel({ children }: { children: ReactNode }) {
  return <span className={styles.label}>{children}</span>
}
