import { PATHS, TEXT_NAMES } from '../../contract/pages.ts'
import { Link } from '../history/link.tsx'
import styles from './site-links.module.css'

const LABELS = {
  about: 'О сайте',
  rules: 'Правила',
  privacy: 'Приватность',
  contacts: 'Контакты',
} as const

/** On wide screens the links stand in the rail. */
export function SiteLinks() {
  return (
    <nav className={styles.links} aria-label="О сайте">
      <TextLinks />
    </nav>
  )
}

/** A list that still grows has no foot, so the rail has the links too. */
export function RailSiteLinks() {
  return (
    <div className={styles.rail}>
      <TextLinks />
    </div>
  )
}

function TextLinks() {
  return TEXT_NAMES.map((name) => (
    <Link key={name} to={PATHS[name]}>
      {LABELS[name]}
    </Link>
  ))
}
