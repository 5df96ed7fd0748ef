import type { ReactNode } from 'react'
import tipStyles from '../ui/tip.module.css'
import styles from './auth-shell.module.css'

type AuthShellProps = {
  /** One sentence that states what to do. */
  tip: ReactNode
  /** Id of the tip, for the element in the content that it describes. */
  tipId?: string
  children: ReactNode
}

export function AuthShell({ tip, tipId, children }: AuthShellProps) {
  return (
    <div className={styles.shell}>
      <p className={tipStyles.tip} id={tipId}>
        {tip}
      </p>
      <div className={styles.content}>{children}</div>
    </div>
  )
}
