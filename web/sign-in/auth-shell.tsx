import type { ReactNode } from 'react'
import { Mark } from '../ui/mark.tsx'
import styles from './auth-shell.module.css'

type AuthShellProps = {
  appName: string
  /** One sentence on what to do here. */
  tip: ReactNode
  /** Id of the tip, for the element in the content that it describes. */
  tipId?: string
  children: ReactNode
}

/** The frame of every sign-in step: the name of the app, a tip, and the content in the centre. */
export function AuthShell({ appName, tip, tipId, children }: AuthShellProps) {
  return (
    <div className={styles.shell}>
      <Mark size={40} solid className={styles.mark} />
      <h3 className={styles.name}>{appName}</h3>
      <p className={styles.tip} id={tipId}>
        {tip}
      </p>
      <div className={styles.content}>{children}</div>
    </div>
  )
}
