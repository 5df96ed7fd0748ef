import type { ReactNode } from 'react'
import styles from './form-error.module.css'

type FormErrorProps = {
  /** What is wrong; nothing while nothing is. */
  children: ReactNode
  /** A button that helps, at the end of the line. */
  action?: ReactNode
}

/** What is wrong with a form. It stands there empty from the start: only then is what appears in it announced. */
export function FormError({ children, action }: FormErrorProps) {
  return (
    <p className={styles.error} role="alert">
      {children}
      {action}
    </p>
  )
}
