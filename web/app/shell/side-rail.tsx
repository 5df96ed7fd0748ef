import { Keyboard, Plus, UserRound } from 'lucide-react'
import { Link, NavLink } from 'react-router'
import { PATHS } from '../../../contract/pages.ts'
import { classes } from '../../ui/classes.ts'
import { Mark } from '../../ui/mark.tsx'
import { openDialog } from '../../viewer/dialogs.ts'
import type { Viewer } from '../../viewer/viewer.ts'
import { DraftMark } from './draft-mark.tsx'
import styles from './side-rail.module.css'
import { ThemeToggle } from './theme-toggle.tsx'

type SideRailProps = {
  appName: string
  onNewPost: () => void
  /** Settings are for signed-in users; their place is reserved while the viewer is not known. */
  viewerState: Viewer['state']
}

/** The navigation of wide screens: icons, with labels beside them from 1060 px. */
export function SideRail({ appName, onNewPost, viewerState }: SideRailProps) {
  return (
    <nav className={styles.rail} aria-label="Разделы">
      <Link to={PATHS.wall} className={styles.brand} title={appName}>
        <Mark size={26} solid className={styles.mark} />
        <span className={styles.label}>{appName}</span>
      </Link>
      <NavLink to={PATHS.wall} end className={styles.item ?? ''} title="Стена">
        <Mark />
        <span className={styles.label}>Стена</span>
      </NavLink>
      {viewerState !== 'signed-out' && (
        <NavLink
          to={PATHS.settings}
          className={classes(styles.item, viewerState !== 'authorized' && styles.unknown)}
          title="Настройки"
        >
          <UserRound size={22} />
          <span className={styles.label}>Настройки</span>
        </NavLink>
      )}
      <button type="button" className={styles.new} title="Новая запись" onClick={onNewPost}>
        <Plus size={22} />
        <span className={styles.label}>Новая запись</span>
        <DraftMark />
      </button>
      <div className={styles.end}>
        <button
          type="button"
          className={styles.item}
          title="Сочетания клавиш"
          onClick={() => openDialog({ name: 'shortcuts' })}
        >
          <Keyboard size={22} />
          <span className={styles.label}>Сочетания клавиш</span>
        </button>
        <ThemeToggle look="rail" />
      </div>
    </nav>
  )
}
