import { type ComponentProps, type MouseEvent, type ReactNode, useRef, useState } from 'react'
import styles from './button.module.css'
import { classes } from './classes.ts'
import iconStyles from './icon-button.module.css'
import { Spinner } from './spinner.tsx'

type ButtonVariant = 'primary' | 'strong' | 'quiet' | 'danger' | 'plain'

type ButtonLook = {
  variant?: ButtonVariant | undefined
  size?: 'm' | 's' | undefined
  wide?: boolean | undefined
}

type ButtonProps = Omit<ComponentProps<'button'>, 'onClick'> &
  ButtonLook & {
    /** A pending button stays focusable, shows a spinner and ignores clicks. */
    pending?: boolean | undefined
    /** A returned promise makes the button pending until it settles. */
    onClick?: ((event: MouseEvent<HTMLButtonElement>) => unknown) | undefined
  }

export function Button(props: ButtonProps) {
  const { variant, size, wide, pending = false, onClick, className, children, ...rest } = props
  const { busy, click } = usePendingClick(pending, onClick)
  return (
    <button
      type="button"
      {...rest}
      className={classes(buttonClass({ variant, size, wide }), className)}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={click}
    >
      <span className={styles.label}>{children}</span>
      {busy && <Spinner className={styles.ring} size={18} />}
    </button>
  )
}

/** The class of a button, for a link that looks like one: <Link className={buttonClass({…})}>. */
export function buttonClass({ variant = 'quiet', size = 'm', wide = false }: ButtonLook): string {
  return classes(styles.button, styles[variant], styles[size], wide && styles.wide)
}

function usePendingClick(pending: boolean, onClick: ButtonProps['onClick']) {
  const [running, setRunning] = useState(false)
  // A second click may come before the next render, when the state is not set yet.
  const started = useRef(false)
  const busy = pending || running

  async function run(work: PromiseLike<unknown>): Promise<void> {
    started.current = true
    setRunning(true)
    try {
      await work
    } finally {
      started.current = false
      setRunning(false)
    }
  }

  function click(event: MouseEvent<HTMLButtonElement>): void {
    if (busy || started.current) {
      // Also prevents a pending submit button from submitting its form.
      event.preventDefault()
      return
    }
    const result = onClick?.(event)
    if (isPromise(result)) void run(result)
  }

  return { busy, click }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}

type IconButtonProps = Omit<ComponentProps<'button'>, 'aria-label' | 'children'> & {
  /** The accessible name and the tooltip. */
  label: string
  icon: ReactNode
}

export function IconButton({ label, icon, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={classes(iconStyles.button, className)}
    >
      {icon}
    </button>
  )
}
