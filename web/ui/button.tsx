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
    /** A pending button stays focusable, shows a spinner and ignores clicks. */
    pending?: boolean | undefined
  }

export function Button(props: ButtonProps) {
  const { variant, size, wide, pending = false, onClick, className, children, ...rest } = props
  return (
    <button
      type="button"
      {...rest}
      className={classes(
        buttonClass({ variant, size, wide }),
        pending && styles.pending,
        className,
      )}
      aria-disabled={pending || undefined}
      aria-busy={pending || undefined}
      // A pending submit button does not submit its form either.
      onClick={pending ? (event) => event.preventDefault() : onClick}
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
