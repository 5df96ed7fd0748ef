import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import styles from './button.module.css'
import { classes } from './classes.ts'
import { Spinner } from './states/spinner.tsx'

/** Lists the classes, because the bundler keeps a whole sheet that is read with a variable. */
const VARIANTS = {
  primary: styles.primary,
  strong: styles.strong,
  quiet: styles.quiet,
  danger: styles.danger,
  confirm: styles.confirm,
  plain: styles.plain,
}

type ButtonLook = {
  variant?: keyof typeof VARIANTS | undefined
  size?: 's' | undefined
  wide?: boolean | undefined
}

type ButtonProps = ComponentProps<'button'> &
  ButtonLook & {
    /** Whether it shows a spinner and, as if it was disabled, ignores clicks. */
    pending?: boolean | undefined
  }

/** Shows a button that stays focusable while it is disabled, so that it keeps the focus. */
export function Button(props: ButtonProps) {
  const { variant, size, wide, className, children, ...own } = props
  const { pending = false, disabled = false, onClick, ...rest } = own
  const ignoresClicks = pending || disabled
  return (
    <button
      type="button"
      {...rest}
      className={classes(
        buttonClass({ variant, size, wide }),
        pending && styles.pending,
        disabled && styles.disabled,
        className,
      )}
      aria-disabled={ignoresClicks || undefined}
      aria-busy={pending || undefined}
      // A submit button does not submit its form either.
      onClick={ignoresClicks ? (event) => event.preventDefault() : onClick}
    >
      <span className={classes('line', styles.label)}>{children}</span>
      {pending && <Spinner className={styles.ring} size={18} />}
    </button>
  )
}

/** Returns the class of a button, for a link that looks like one. */
export function buttonClass({ variant = 'quiet', size, wide }: ButtonLook): string {
  const small = size && classes('target', styles.s)
  return classes(small, 'control', styles.button, VARIANTS[variant], wide && styles.wide)
}

type IconButtonProps = Omit<ComponentProps<'button'>, 'aria-label' | 'children'> & {
  /** The accessible name and the tooltip. */
  label: string
  icon: ReactNode
}

/** The class of an icon button, for a link that looks like one. */
export const iconButtonClass = styles.icon

export function IconButton({ label, icon, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={classes(iconButtonClass, className)}
    >
      {icon}
    </button>
  )
}

/**
 * Returns whether a click is the second of a double click, which must not act on what the first one
 * has shown. A second tap is an act of its own.
 */
export function isSecondClick({ detail, nativeEvent }: MouseEvent): boolean {
  return detail > 1 && (nativeEvent as PointerEvent).pointerType === 'mouse'
}
