import type { IconNode } from 'lucide'
import { createElement } from 'react'
import { classes } from './classes.ts'

type IconProps = {
  shape: IconNode
  size: number
  className?: string | undefined
}

/** Draws an icon. Its strokes are as heavy as letters. Assistive technology ignores it. */
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

type MarkProps = { size?: number; solid?: boolean; className?: string | undefined }

const LINES =
  'M4 4h16a1.5 1.5 0 0 1 1.5 1.5v10A1.5 1.5 0 0 1 20 17H10l-4.5 4v-4H4a1.5 1.5 0 0 1-1.5-1.5v-10A1.5 1.5 0 0 1 4 4zM2.5 8.3h19M2.5 12.7h19M9 4v4.3M15.5 8.3v4.4M8 12.7V17'
export const MARK_BRICKS =
  'M3.5 3h8v4H2V4.5A1.5 1.5 0 0 1 3.5 3zM12.7 3h7.8A1.5 1.5 0 0 1 22 4.5V7h-9.3zM2 8.2h5v4H2zM8.2 8.2h8.6v4H8.2zM18 8.2h4v4h-4zM2 13.4h9.5v4H9.8l-4.3 4.1v-4.1h-2A1.5 1.5 0 0 1 2 15.9zM12.7 13.4H22v2.5a1.5 1.5 0 0 1-1.5 1.5h-7.8z'

/** Draws the logo, a brick wall in a speech bubble: outlined, or `solid` in the color of brick. */
export function Mark({ size = 22, solid = false, className }: MarkProps) {
  const look = solid ? { d: MARK_BRICKS, fill: 'currentColor', stroke: 'none' } : { d: LINES }
  return (
    <Icon shape={[['path', look]]} size={size} className={classes(solid && 'brick', className)} />
  )
}
