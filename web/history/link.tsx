import type { AnchorHTMLAttributes, MouseEvent } from 'react'
import { isPlainClick } from '../platform/plain-click.ts'
import { navigate } from './history.ts'

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & {
  to: string
  /** Whether the opened page may go back to the settings. */
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
