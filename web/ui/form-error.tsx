import type { ReactNode } from 'react'
import styles from './form-error.module.css'

type FormErrorProps = {
  /** The error message; nothing without an error. */
  children: ReactNode
  /** A button that helps, at the end of the line. */
  action?: ReactNode
}

/** The error of a form. Keep it mounted while it is empty: only then is a message that appears in it announced. */
export function FormError({ children, action }: FormErrorProps) {
  return (
    <p className={styles.error} role="alert">
      {children}
      {action}
    </p>
  )
}
