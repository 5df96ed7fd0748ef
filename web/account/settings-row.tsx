import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import styles from './settings.module.css'

type SettingsRowProps = {
  to: string
  icon: ReactNode
  label: string
  value?: string
}

/** A row of settings: what it is, how it stands now, and the way to change it. */
export function SettingsRow({ to, icon, label, value }: SettingsRowProps) {
  return (
    <Link to={to} className={styles.row}>
      <span className={styles.icon}>{icon}</span>
      <span className={styles.lines}>
        <span className={styles.label}>{label}</span>
        {value && <span className={styles.value}>{value}</span>}
      </span>
      <ChevronRight size={18} aria-hidden className={styles.icon} />
    </Link>
  )
}
