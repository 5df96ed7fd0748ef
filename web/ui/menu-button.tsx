import { Ellipsis } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { IconButton } from './icon-button.tsx'
import type { MenuItem } from './menu.tsx'
import { usePopup } from './use-popup.ts'

type MenuButtonProps = {
  /** The accessible name of the button and of its menu. */
  label: string
  items: readonly MenuItem[]
}

const loadMenu = () => import('./menu.tsx')

/** A button with a menu of actions. Items may change while it is open. */
export function MenuButton({ label, items }: MenuButtonProps) {
  const popup = usePopup(loadMenu)
  const Menu = popup.content?.Menu

  function openByKey(event: KeyboardEvent): void {
    if (event.key !== 'ArrowDown' || popup.open) return
    event.preventDefault()
    void popup.show()
  }

  return (
    <>
      <IconButton
        ref={popup.anchor}
        label={label}
        icon={<Ellipsis size={20} />}
        aria-haspopup="menu"
        aria-expanded={popup.open}
        onClick={popup.toggle}
        onKeyDown={openByKey}
        onPointerEnter={popup.preload}
        onFocus={popup.preload}
      />
      {Menu && popup.anchor.current && (
        <Menu label={label} items={items} anchor={popup.anchor.current} onClose={popup.close} />
      )}
    </>
  )
}
