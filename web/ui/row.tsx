import { ChevronRight } from 'lucide'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { Icon } from './icon.tsx'
import { Pause } from './pause.tsx'
import styles from './row.module.css'

type RowProps = {
  icon: ReactNode
  name: string
  about?: ReactNode | undefined
  withChevron?: boolean
}

/** The class of the element around a Row: a link, a button or a plain element. */
export const rowClass = classes('line focus-inside', styles.row)

export function Row({ icon, name, about, withChevron = false }: RowProps) {
  return (
    <>
      <span className={styles.icon}>{icon}</span>
      <span className={styles.lines}>
        <span className={styles.name}>
          {name}
          {about && <Pause />}
        </span>
        {about && <span className="soft">{about}</span>}
      </span>
      {withChevron && <Icon shape={ChevronRight} size={18} className={styles.icon} />}
    </>
  )
}

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section} aria-label={title}>
      <h2 className={classes('label', styles.title)}>{title}</h2>
      {children}
    </section>
  )
}
