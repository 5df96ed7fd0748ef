import { Plus, UserRound } from 'lucide-react'
import { NavLink } from 'react-router'
import { PATHS } from '../../../contract/pages.ts'
import { Mark } from '../../ui/mark.tsx'
import styles from './bottom-bar.module.css'
import { DraftMark } from './draft-mark.tsx'
import { useHideOnScroll } from './use-hide-on-scroll.ts'

/** The navigation of phones. It hides while one scrolls down, and returns on the first scroll up. */
export function BottomBar({ onNewPost }: { onNewPost: () => void }) {
  const hidden = useHideOnScroll()
  return (
    <nav className={styles.bar} data-hidden={hidden || undefined} aria-label="Разделы">
      <NavLink to={PATHS.wall} end className={styles.item ?? ''} aria-label="Стена">
        <Mark size={24} />
      </NavLink>
      <button type="button" className={styles.new} onClick={onNewPost}>
        <Plus size={24} />
        <span className="visually-hidden">Новая запись</span>
        <DraftMark />
      </button>
      <NavLink to={PATHS.settings} className={styles.item ?? ''} aria-label="Настройки">
        <UserRound size={24} />
      </NavLink>
    </nav>
  )
}
