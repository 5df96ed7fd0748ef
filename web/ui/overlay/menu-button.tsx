import { Ellipsis } from 'lucide'
import type { ReactNode } from 'react'
import { createLazyChunk, type LazyChunk } from '../../platform/lazy-chunk.ts'
import { IconButton } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { Lazy } from '../states/lazy.tsx'
import type { MenuProps } from './menu.tsx'
import { useMenuButton } from './use-menu-button.ts'

export const menu = createLazyChunk(() => import('./menu.tsx'), 'Menu')

type OpenMenu = Pick<MenuProps, 'label' | 'button' | 'onClose'>

type MenuButtonProps<Menu> = {
  about: string
  chunk: LazyChunk<Menu>
  children: (menu: Menu, open: OpenMenu) => ReactNode
}

export function MenuButton<Menu>({ about, chunk, children }: MenuButtonProps<Menu>) {
  const { button, buttonProps, close } = useMenuButton()
  const label = `Ещё: ${about}`

  return (
    <>
      <IconButton
        {...buttonProps}
        label={label}
        icon={<Icon shape={Ellipsis} size={20} />}
        aria-haspopup="menu"
      />
      {button && (
        <Lazy chunk={chunk} loading={<i data-loading />} onError={close}>
          {(menu) => children(menu, { label, button, onClose: close })}
        </Lazy>
      )}
    </>
  )
}
