import { type ReactNode, useId } from 'react'
import styles from './section.module.css'

type SectionProps = {
  title: string
  /** Only screen readers read the title. */
  isTitleHidden?: boolean
  children: ReactNode
}

/** A group of rows under a title. */
export function Section({ title, isTitleHidden = false, children }: SectionProps) {
  const id = useId()
  if (isTitleHidden) {
    return (
      <section className={styles.section} aria-label={title}>
        {children}
      </section>
    )
  }
  return (
    <section className={styles.section} aria-labelledby={id}>
      <h2 className={styles.title} id={id}>
        {title}
      </h2>
      {children}
    </section>
  )
}
