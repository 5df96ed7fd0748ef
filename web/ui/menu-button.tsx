import { Ellipsis } from 'lucide-react'
import { IconButton } from './icon-button.tsx'
import type { MenuItem } from './menu.tsx'
import { usePopup } from './use-popup.ts'

type MenuButtonProps = {
  /** The accessible name of the button and of its menu. */
  label: string
  items: readonly MenuItem[]
}

const OPEN_KEYS = ['ArrowDown']
const loadMenu = () => import('./menu.tsx')

/** A button with a menu of actions. Items may change while it is open. */
export function MenuButton({ label, items }: MenuButtonProps) {
  const popup = usePopup(loadMenu, OPEN_KEYS)
  const Menu = popup.content?.Menu

  return (
    <>
      <IconButton
        {...popup.buttonProps}
        label={label}
        icon={<Ellipsis size={20} />}
        aria-haspopup="menu"
      />
      {Menu && popup.anchor.current && (
        <Menu
          role="menu"
          label={label}
          items={items}
          anchor={popup.anchor.current}
          onClose={popup.close}
        />
      )}
    </>
  )
}
