import { Icon } from '../ui/icon.tsx'
import { Row, rowClass } from '../ui/row.tsx'
import { useOtherTheme } from './theme-toggle.tsx'

/** The theme toggle as a row of the settings. */
export function ThemeRow() {
  const { label, icon, choose } = useOtherTheme()
  return (
    <button type="button" className={rowClass} onClick={choose}>
      <Row icon={<Icon shape={icon} size={20} />} name={label} />
    </button>
  )
}
