import type { ReactNode } from 'react'
import { PATHS } from '../../contract/pages.ts'
import { Link } from '../history/link.tsx'
import { classes } from '../ui/classes.ts'
import styles from './site-links.module.css'

/** The consent is linked where one consents: at the registration. */
const LINKS = [
  { to: PATHS.about, label: 'О сайте' },
  { to: PATHS.rules, label: 'Правила' },
  { to: PATHS.privacy, label: 'Персональные данные' },
  { to: PATHS.contacts, label: 'Контакты' },
]

/** On wide screens the links stand beside the column, where a list that still grows has them too. */
export function SiteLinks({ children }: { children?: ReactNode }) {
  return (
    <nav className={classes('soft wrap', styles.links)} aria-label="О сайте">
      <TextLinks />
      {children}
    </nav>
  )
}

export function TextLinks() {
  return LINKS.map(({ to, label }) => (
    <Link key={to} to={to}>
      {label}
    </Link>
  ))
}
