import type { ComponentProps } from 'react'
import { usePage } from '../../history/entry.tsx'
import { Link } from '../../history/link.tsx'

/** Marks the link as current on its page and on the pages below it. */
export function NavigationLink(props: ComponentProps<typeof Link>) {
  const isCurrent = `${usePage()?.path}/`.startsWith(`${props.to}/`)
  return <Link {...props} aria-current={isCurrent ? 'page' : undefined} />
}
