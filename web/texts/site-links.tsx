import { PATHS, TEXT_NAMES } from '../../contract/pages.ts'
import { Link } from '../ui/link.tsx'
import styles from './site-links.module.css'

const LABELS = {
  about: 'О сайте',
  rules: 'Правила',
  privacy: 'Приватность',
  contacts: 'Контакты',
} as const

/** Links to the texts of the site, in one quiet line below the content; on wide screens they stand in the rail. */
export function SiteLinks() {
  return (
    <nav className={styles.links} aria-label="О сайте">
      <TextLinks />
    </nav>
  )
}

/** The same links at the end of the rail, where there is room for them: a list that still grows has no foot to go to. */
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
