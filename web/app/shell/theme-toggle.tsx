import { Moon, Sun } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { getTheme, setTheme, subscribeTheme } from '../../browser/theme.ts'
import { IconButton } from '../../ui/icon-button.tsx'
import { RailLabel } from './rail-label.tsx'
import styles from './side-rail.module.css'

/** Switches the theme and is named after the one it brings. A row of the rail, or an icon where room is short. */
export function ThemeToggle({ look }: { look: 'rail' | 'icon' }) {
  const theme = useSyncExternalStore(subscribeTheme, getTheme, () => 'dark')
  const other = theme === 'dark' ? 'light' : 'dark'
  const label = theme === 'dark' ? 'Светлая тема' : 'Тёмная тема'
  const icon = theme === 'dark' ? <Sun size={22} /> : <Moon size={22} />

  if (look === 'icon') {
    return <IconButton label={label} icon={icon} onClick={() => setTheme(other)} />
  }
  return (
    <button type="button" className={styles.item} title={label} onClick={() => setTheme(other)}>
      {icon}
      <RailLabel>{label}</RailLabel>
    </button>
  )
}
