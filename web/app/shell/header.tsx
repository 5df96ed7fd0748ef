import type { ReactNode } from 'react'
import styles from './header.module.css'
import { ThemeToggle } from './theme-toggle.tsx'

type HeaderProps = {
  /** The feed switcher, or the back button and a HeaderTitle. */
  left: ReactNode
  /** «Войти», or the link to the profile. */
  right?: ReactNode
}

/** The top of the column; it stays in sight. On phones, which have no rail, it also holds the theme toggle. */
export function Header({ left, right }: HeaderProps) {
  return (
    <header className={styles.header}>
      <div className={styles.left}>{left}</div>
      <div className={styles.right}>
        <div className={styles.phone}>
          <ThemeToggle look="icon" />
        </div>
        {right}
      </div>
    </header>
  )
}

/** The title of the page. */
export function HeaderTitle({ children }: { children: ReactNode }) {
  return <h1 className={styles.title}>{children}</h1>
}
