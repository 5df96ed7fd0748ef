import type { ReactNode } from 'react'
import { Mark } from '../ui/mark.tsx'
import styles from './auth-shell.module.css'

type AuthShellProps = {
  appName: string
  /** One sentence on what to do here. */
  tip: ReactNode
  children: ReactNode
}

/** What every step of signing in stands in: the name of the app, a tip, the content in the middle. */
export function AuthShell({ appName, tip, children }: AuthShellProps) {
  return (
    <div className={styles.shell}>
      <Mark size={40} solid className={styles.mark} />
      <h3 className={styles.name}>{appName}</h3>
      <p className={styles.tip}>{tip}</p>
      <div className={styles.content}>{children}</div>
    </div>
  )
}
