import type { AnchorHTMLAttributes, MouseEvent } from 'react'
import { navigate } from './history.ts'

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & {
  to: string
  fromSettings?: boolean
}

export function Link({ to, fromSettings = false, onClick, ...attributes }: LinkProps) {
  function follow(event: MouseEvent<HTMLAnchorElement>): void {
    onClick?.(event)
    if (event.defaultPrevented || !isPlainClick(event)) return
    event.preventDefault()
    navigate(to, { fromSettings })
  }

  return <a {...attributes} href={to} onClick={follow} />
}

function isPlainClick({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey
}

export const CONTENT = 'content'

/** Moves the focus to the content before the focused element disappears. Does not scroll. */
export function focusContent(): void {
  document.getElementById(CONTENT)?.focus({ preventScroll: true })
}
