import { PATHS, TEXT_NAMES } from '../../contract/pages.ts'
import { Link } from '../ui/link.tsx'
import styles from './site-links.module.css'

const LABELS = {
  about: 'О сайте',
  rules: 'Правила',
  privacy: 'Приватность',
  contacts: 'Контакты',
} as const

/** Links to the texts of the site, in one quiet line. */
export function SiteLinks() {
  return (
    <nav className={styles.links} aria-label="О сайте">
      {TEXT_NAMES.map((name) => (
        <Link key={name} to={PATHS[name]}>
          {LABELS[name]}
        </Link>
      ))}
    </nav>
  )
}
