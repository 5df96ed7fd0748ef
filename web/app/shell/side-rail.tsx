import { Plus, UserRound } from 'lucide-react'
import { Link, NavLink } from 'react-router'
import { PATHS } from '../../../contract/pages.ts'
import { classes } from '../../ui/classes.ts'
import { Mark } from '../../ui/mark.tsx'
import type { Viewer } from '../../viewer/viewer.ts'
import { RailLabel } from './rail-label.tsx'
import styles from './side-rail.module.css'
import { ThemeToggle } from './theme-toggle.tsx'

type SideRailProps = {
  appName: string
  onNewPost: () => void
  /** Settings are a signed-in person's; they keep their place while it is not known who came. */
  viewerState: Viewer['state']
}

/** The navigation of wide screens: icons, and words beside them from 1060 px. */
export function SideRail({ appName, onNewPost, viewerState }: SideRailProps) {
  return (
    <nav className={styles.rail} aria-label="Разделы">
      <Link to={PATHS.wall} className={styles.brand} title={appName}>
        <Mark size={26} solid className={styles.mark} />
        <RailLabel>{appName}</RailLabel>
      </Link>
      <NavLink to={PATHS.wall} end className={styles.item ?? ''} title="Стена">
        <Mark />
        <RailLabel>Стена</RailLabel>
      </NavLink>
      {viewerState !== 'signed-out' && (
        <NavLink
          to={PATHS.settings}
          className={classes(styles.item, viewerState !== 'authorized' && styles.unknown)}
          title="Настройки"
        >
          <UserRound size={22} />
          <RailLabel>Настройки</RailLabel>
        </NavLink>
      )}
      <button type="button" className={styles.new} title="Новая запись" onClick={onNewPost}>
        <Plus size={22} />
        <RailLabel>Новая запись</RailLabel>
      </button>
      <div className={styles.end}>
        <ThemeToggle look="rail" />
      </div>
    </nav>
  )
}
