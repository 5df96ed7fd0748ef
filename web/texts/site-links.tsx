import type { ReactNode } from 'react'
import { PATHS } from '../../contract/pages.ts'
import { classes } from '../ui/classes.ts'
import styles from './site-links.module.css'

/** The site's texts, without the consent, to which only the registration links. */
const LINKS = [
  { to: PATHS.about, label: 'О сайте' },
  { to: PATHS.rules, label: 'Правила' },
  { to: PATHS.privacy, label: 'Персональные данные' },
  { to: PATHS.contacts, label: 'Контакты' },
]

/** Links to the site's texts. On wide screens SideInfo shows them beside the column instead. */
export function SiteLinks({ children }: { children?: ReactNode }) {
  return (
    <nav className={classes('soft wrap below-desktop', styles.links)} aria-label="О сайте">
      <TextLinks />
      {children}
    </nav>
  )
}

export function TextLinks() {
  return LINKS.map(({ to, label }) => (
    <a key={to} href={to} className="control underlined">
      {label}
    </a>
  ))
}
