import type { ReactNode } from 'react'
import { SkipLink } from '../../ui/skip-link.tsx'
import styles from './shell.module.css'

type ShellProps = {
  rail: ReactNode
  header: ReactNode
  bar: ReactNode
  /** A line that stays in sight at the bottom, such as the offline notice. */
  banner?: ReactNode
  children: ReactNode
}

/** The frame of every page: rail, column with header and content, bottom bar on phones. */
export function Shell({ rail, header, bar, banner, children }: ShellProps) {
  return (
    <div className={styles.frame}>
      <SkipLink target="content">К содержанию</SkipLink>
      {rail}
      <div className={styles.column}>
        {header}
        <main id="content" className={styles.content} tabIndex={-1}>
          {children}
        </main>
      </div>
      {bar}
      <div className={styles.notice}>{banner}</div>
    </div>
  )
}
