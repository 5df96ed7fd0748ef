import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './row.module.css'

type RowProps = {
  icon: ReactNode
  name: string
  about?: ReactNode | undefined
  /** A tap on it leads further. */
  leadsOn?: boolean
}

/** The class of a row in a section: of a link or a button where it leads on, of a plain element otherwise. */
export const rowClass = styles.row

/** What stands in a row: an icon, a name, a line about it, and an arrow where it leads on. */
export function Row({ icon, name, about, leadsOn = false }: RowProps) {
  return (
    <>
      <span className={styles.icon}>{icon}</span>
      <span className={styles.lines}>
        <span className={styles.name}>{name}</span>
        {about && <span className={styles.about}>{about}</span>}
      </span>
      {leadsOn && <ChevronRight size={18} aria-hidden className={styles.icon} />}
    </>
  )
}
