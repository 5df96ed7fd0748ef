import { Ellipsis } from 'lucide'
import { type ComponentType, type KeyboardEvent, type MouseEvent, useState } from 'react'
import { createLazyChunk, type LazyChunk } from '../../platform/lazy-chunk.ts'
import { IconButton, isSecondClick } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { Lazy } from '../states/lazy.tsx'
import type { MenuProps } from './menu.tsx'

export const menu = createLazyChunk(() => import('./menu.tsx'), 'Menu')

type OpenMenu = Pick<MenuProps, 'label' | 'button' | 'onClose'>

type MenuButtonProps<Props> = {
  about: string
  chunk: LazyChunk<ComponentType<Props & OpenMenu>>
  props: Props
}

export function MenuButton<Props extends object>({ about, chunk, props }: MenuButtonProps<Props>) {
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
        <Lazy
          chunk={chunk}
          loading={<i data-loading />}
          onError={close}
          props={{ ...props, label, button, onClose: close }}
        />
      )}
    </>
  )
}

/** Returns the state of a button that opens a list. `button` is set while the list is open. */
export function useMenuButton() {
  const [button, setButton] = useState<HTMLElement | null>(null)

  function openByKey(event: KeyboardEvent<HTMLElement>): void {
    if (button || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    setButton(event.currentTarget)
  }

  function toggle(event: MouseEvent<HTMLElement>): void {
    if (!isSecondClick(event)) setButton(button ? null : event.currentTarget)
  }

  return {
    button,
    close: () => setButton(null),
    buttonProps: {
      'aria-expanded': button !== null,
      onClick: toggle,
      onKeyDown: openByKey,
    },
  }
}
