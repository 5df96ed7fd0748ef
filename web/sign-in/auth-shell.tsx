import type { ReactNode } from 'react'
import { classes } from '../ui/classes.ts'
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
      <p className={classes(tipStyles.tip, styles.tip)} id={tipId}>
        {tip}
      </p>
      <div className={styles.content}>{children}</div>
    </div>
  )
}
