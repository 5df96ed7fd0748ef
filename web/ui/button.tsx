import { type ComponentProps, type MouseEvent, useRef, useState } from 'react'
import styles from './button.module.css'
import { type ButtonLook, buttonLook } from './button-look.ts'
import { classes } from './classes.ts'
import { Spinner } from './spinner.tsx'

type ButtonProps = Omit<ComponentProps<'button'>, 'onClick'> &
  ButtonLook & {
    /** Work goes on: the button stays focusable, shows a ring and does nothing. */
    pending?: boolean | undefined
    /** A returned promise makes the button pending until it settles. */
    onClick?: ((event: MouseEvent<HTMLButtonElement>) => unknown) | undefined
  }

/** A button that never fires twice for one wish. */
export function Button(props: ButtonProps) {
  const { variant, size, wide, pending = false, onClick, className, children, ...rest } = props
  const { busy, click } = useSingleFire(pending, onClick)
  return (
    <button
      type="button"
      {...rest}
      className={classes(buttonLook({ variant, size, wide }), className)}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={click}
    >
      <span className={styles.label}>{children}</span>
      {busy && <Spinner className={styles.ring} size={18} />}
    </button>
  )
}

function useSingleFire(pending: boolean, onClick: ButtonProps['onClick']) {
  const [running, setRunning] = useState(false)
  // State is a render late for a second click in the same frame; the ref is not.
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
      // Also keeps a pending submit button from sending its form.
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
