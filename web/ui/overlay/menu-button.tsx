import { Ellipsis } from 'lucide'
import {
  type ComponentType,
  type KeyboardEvent,
  type MouseEvent,
  useLayoutEffect,
  useState,
} from 'react'
import { createLazyChunk, type LazyChunk } from '../../platform/lazy-chunk.ts'
import { IconButton, isSecondClick } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { Lazy } from '../states/lazy.tsx'
import type { MenuProps } from './menu.tsx'

export const menu = createLazyChunk(() => import('./menu.tsx'), 'Menu')

type OpenMenu = Pick<MenuProps, 'button' | 'onClose'>
type MenuChunk<Props> = LazyChunk<ComponentType<Props & OpenMenu>>

type MenuButtonProps<Props> = {
  about: string
  chunk: MenuChunk<Props & Pick<MenuProps, 'label'>>
  props: Props
}

export function MenuButton<Props extends object>({ about, chunk, props }: MenuButtonProps<Props>) {
  const label = `Ещё: ${about}`
  const [buttonProps, list] = useMenuButton(chunk, { ...props, label })
  const icon = <Icon shape={Ellipsis} size={20} />
  return (
    <>
      <IconButton {...buttonProps} label={label} icon={icon} aria-haspopup="menu" />
      {list}
    </>
  )
}

/** Returns the props of a button that opens a list, and the list; null while it is closed. */
export function useMenuButton<Props extends object>(chunk: MenuChunk<Props>, props: Props) {
  const [button, setButton] = useState<HTMLElement | null>(null)
  const close = () => setButton(null)

  function openByKey(event: KeyboardEvent<HTMLElement>): void {
    if (button || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    setButton(event.currentTarget)
  }

  function toggle(event: MouseEvent<HTMLElement>): void {
    if (!isSecondClick(event)) setButton(button ? null : event.currentTarget)
  }

  const buttonProps = {
    'aria-expanded': button !== null,
    onClick: toggle,
    onKeyDown: openByKey,
  }
  const list = button && (
    <Lazy
      chunk={chunk}
      loading={<Opening button={button} onClose={close} />}
      onError={close}
      props={{ ...props, button, onClose: close }}
    />
  )
  return [buttonProps, list] as const
}

/** Stands for a list that is loading. A press or the focus elsewhere cancels it. */
function Opening({ button, onClose }: OpenMenu) {
  // Its cleanup must come before the list takes the focus.
  useLayoutEffect(() => {
    const stop = new AbortController()
    const { signal } = stop
    const leave = ({ target }: Event) => button.contains(target as Node) || onClose()
    addEventListener('pointerdown', leave, { signal })
    addEventListener('focusin', leave, { signal })
    return () => stop.abort()
  })
  return <i data-loading />
}
