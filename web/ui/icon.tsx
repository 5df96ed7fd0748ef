import type { IconNode } from 'lucide'
import { createElement } from 'react'

type IconProps = {
  shape: IconNode
  size: number
  className?: string | undefined
}

/** Its strokes are as heavy as the letters around it. Assistive technology ignores it. */
export function Icon({ shape, size, className }: IconProps) {
  return (
    <svg
      className={className}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {shape.map(([tag, geometry], key) => createElement(tag, { key, ...geometry }))}
    </svg>
  )
}
