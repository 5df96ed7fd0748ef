import { Moon, Sun } from 'lucide'
import { useAtom } from '../platform/atom.ts'
import { classes } from '../ui/classes.ts'
import { Icon } from '../ui/icon.tsx'
import { setTheme, theme } from './theme.ts'
import styles from './theme-toggle.module.css'

export function useOtherTheme() {
  const isDark = useAtom(theme, 'dark') === 'dark'
  return {
    label: isDark ? 'Светлая тема' : 'Тёмная тема',
    icon: isDark ? Sun : Moon,
    choose: () => setTheme(isDark ? 'light' : 'dark'),
  }
}

type ThemeToggleProps = { className?: string | undefined; labelClass?: string | undefined }

/** Renders the theme button. Without `className`, its style is for the foot of a page on phones. */
export function ThemeToggle({ className, labelClass }: ThemeToggleProps) {
  const { label, icon, choose } = useOtherTheme()
  const look = className ?? classes('line', styles.foot)
  return (
    <button type="button" className={look} title={label} data-theme-toggle onClick={choose}>
      <Icon shape={icon} size={22} />
      <span className={labelClass}>{label}</span>
    </button>
  )
}
