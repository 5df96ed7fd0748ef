import type { ReactNode } from 'react'
import { settings } from '../session/page-settings.ts'
import { Mark } from '../ui/mark.tsx'
import styles from './auth-shell.module.css'

type AuthShellProps = {
  /** One sentence on what to do here. */
  tip: ReactNode
  /** Id of the tip, for the element in the content that it describes. */
  tipId?: string
  children: ReactNode
}

export function AuthShell({ tip, tipId, children }: AuthShellProps) {
  return (
    <div className={styles.shell}>
      <Mark size={40} solid className={styles.mark} />
      <h3 className={styles.name}>{settings().appName}</h3>
      <p className={styles.tip} id={tipId}>
        {tip}
      </p>
      <div className={styles.content}>{children}</div>
    </div>
  )
}
