import type { ReactNode } from 'react'
import styles from './section.module.css'

type SectionProps = {
  title: string
  /** Only screen readers read the title. */
  isTitleHidden?: boolean
  children: ReactNode
}

/** A group of rows under a title. */
export function Section({ title, isTitleHidden = false, children }: SectionProps) {
  return (
    <section className={styles.section} aria-label={title}>
      {!isTitleHidden && <h2 className={styles.title}>{title}</h2>}
      {children}
    </section>
  )
}
