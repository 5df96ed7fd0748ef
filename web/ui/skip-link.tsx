import type { MouseEvent, ReactNode } from 'react'
import styles from './skip-link.module.css'

/** The first stop of the Tab key: jumps over the navigation to the focusable element with the id `target`. */
export function SkipLink({ target, children }: { target: string; children: ReactNode }) {
  function jump(event: MouseEvent): void {
    // Not by the address: a step in history would spoil the way back.
    event.preventDefault()
    document.getElementById(target)?.focus()
  }

  return (
    <a className={styles.link} href={`#${target}`} onClick={jump}>
      {children}
    </a>
  )
}
