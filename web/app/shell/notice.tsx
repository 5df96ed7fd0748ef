import { type ReactNode, useLayoutEffect } from 'react'
import styles from './app-shell.module.css'

/** A line at the bottom of the screen. Toasts and the end of the page leave room for it. */
export function Notice({ children }: { children: ReactNode }) {
  useLayoutEffect(() => {
    const root = document.documentElement
    root.toggleAttribute('data-notice', true)
    return () => {
      root.toggleAttribute('data-notice', false)
    }
  }, [])
  return <div className={styles.banner}>{children}</div>
}
