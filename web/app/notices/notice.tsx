import { type ReactNode, useLayoutEffect } from 'react'
import { pageFlags } from '../../platform/flags.ts'
import { classes } from '../../ui/classes.ts'
import styles from '../shell/app-shell.module.css'

/** Shows a line at the bottom of the screen, for which toasts and the page's end leave room. */
export function Notice({ children }: { children: ReactNode }) {
  useLayoutEffect(() => {
    pageFlags().notice = ''
    return () => {
      delete pageFlags().notice
    }
  }, [])
  return <div className={classes('soft', styles.banner)}>{children}</div>
}
