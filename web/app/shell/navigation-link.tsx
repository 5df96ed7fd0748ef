import type { ComponentProps } from 'react'
import { usePage } from '../../history/entry.tsx'
import { Link } from '../../history/link.tsx'

/** A link is marked also while a page below its own is shown. */
export function NavigationLink(props: ComponentProps<typeof Link>) {
  const isCurrent = `${usePage()?.path}/`.startsWith(`${props.to}/`)
  return <Link {...props} aria-current={isCurrent ? 'page' : undefined} />
}
