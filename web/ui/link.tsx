import type { AnchorHTMLAttributes, MouseEvent } from 'react'
import { useHref, useLinkClickHandler } from 'react-router'

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & {
  to: string
  state?: unknown
}

/** React Router's own Link prefetches data, which this app does not use: 1.5 KB (gzip). */
export function Link({ to, state, onClick, ...attributes }: LinkProps) {
  const navigate = useLinkClickHandler<HTMLAnchorElement>(to, { state })

  function follow(event: MouseEvent<HTMLAnchorElement>): void {
    onClick?.(event)
    if (!event.defaultPrevented) navigate(event)
  }

  return <a {...attributes} href={useHref(to)} onClick={follow} />
}
