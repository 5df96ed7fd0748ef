import { Moon, Sun } from 'lucide-react'
import { useAtom } from '../../browser/atom.ts'
import { setTheme, theme } from '../../browser/theme.ts'
import { IconButton } from '../../ui/icon-button.tsx'
import styles from './side-rail.module.css'

/** Switches to the other theme, after which it is named. A row of the rail, or an icon where there is little room. */
export function ThemeToggle({ look }: { look: 'rail' | 'icon' }) {
  const current = useAtom(theme, 'dark')
  const other = current === 'dark' ? 'light' : 'dark'
  const label = current === 'dark' ? 'Светлая тема' : 'Тёмная тема'
  const icon = current === 'dark' ? <Sun size={22} /> : <Moon size={22} />

  if (look === 'icon') {
    return <IconButton label={label} icon={icon} onClick={() => setTheme(other)} />
  }
  return (
    <button type="button" className={styles.item} title={label} onClick={() => setTheme(other)}>
      {icon}
      <span className={styles.label}>{label}</span>
    </button>
  )
}
