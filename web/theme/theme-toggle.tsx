import { Moon, Sun } from 'lucide'
import { useAtom } from '../platform/atom.ts'
import { Icon } from '../ui/icon.tsx'
import { setTheme, theme } from './theme.ts'

export function useOtherTheme() {
  const isDark = useAtom(theme, 'dark') === 'dark'
  return {
    label: isDark ? 'Светлая тема' : 'Тёмная тема',
    icon: isDark ? Sun : Moon,
    choose: () => setTheme(isDark ? 'light' : 'dark'),
  }
}

type ThemeToggleProps = { className?: string | undefined; labelClass?: string | undefined }

/** Renders the theme button. Its own style is for the foot of a page on phones. */
export function ThemeToggle({
  className = 'line control phone-only',
  labelClass,
}: ThemeToggleProps) {
  const { label, icon, choose } = useOtherTheme()
  return (
    <button type="button" className={className} title={label} data-theme-toggle onClick={choose}>
      <Icon shape={icon} size={22} />
      <span className={labelClass}>{label}</span>
    </button>
  )
}
