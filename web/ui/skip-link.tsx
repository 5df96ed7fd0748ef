import type { MouseEvent, ReactNode } from 'react'
import styles from './skip-link.module.css'

/** The first stop of the Tab key: jumps over the navigation to the focusable element with the id `target`. */
export function SkipLink({ target, children }: { target: string; children: ReactNode }) {
  function jump(event: MouseEvent): void {
    // Not by the URL, which would add a history entry before the page one goes back to.
    event.preventDefault()
    document.getElementById(target)?.focus()
  }

  return (
    <a className={styles.link} href={`#${target}`} onClick={jump}>
      {children}
    </a>
  )
}
