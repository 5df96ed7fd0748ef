import {
  createContext,
  type MouseEvent,
  type ReactNode,
  useContext,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { useAtom } from '../browser/atom.ts'
import { createToastQueue, type ToastOptions, type ToastQueue } from './toast-queue.ts'
import styles from './toaster.module.css'

export type Toast = {
  text: string
  /** With `href` a real link, whose plain click calls `onSelect` for the router instead; without, a button. */
  link?: { label: string; href?: string; onSelect: () => void }
}

/** How long a toast is shown, and the pause before the next. */
const TIMING = { durationMs: 3500, pauseMs: 700 }

const QueueContext = createContext<ToastQueue<Toast> | undefined>(undefined)

/** Provides useToast() to its children, and shows the toasts one after another. */
export function Toaster({ children }: { children: ReactNode }) {
  const [queue] = useState(() => createToastQueue<Toast>(TIMING))
  return (
    <QueueContext value={queue}>
      {children}
      <ToastRegion queue={queue} />
    </QueueContext>
  )
}

/** The function that shows a toast: toast({ text: 'Удалено' }). The same on every render. */
export function useToast(): (toast: Toast, options?: ToastOptions) => void {
  const queue = useContext(QueueContext)
  if (!queue) throw new Error('useToast() needs a <Toaster> above it')
  return queue.push
}

function ToastRegion({ queue }: { queue: ToastQueue<Toast> }) {
  const toast = useAtom(queue, undefined)
  const ref = useRef<HTMLDivElement>(null)

  // Shown anew for each toast: in the top layer, the element shown last is above all others.
  useLayoutEffect(() => {
    if (!toast) return
    ref.current?.hidePopover()
    ref.current?.showPopover()
  }, [toast])

  return (
    <div ref={ref} className={styles.region} role="status" popover="manual">
      {toast && (
        // biome-ignore lint/a11y/noStaticElementInteractions: only stops the timer while the toast is read.
        <div
          className={styles.toast}
          onPointerEnter={queue.hold}
          onPointerLeave={queue.resume}
          onFocus={queue.hold}
          onBlur={queue.resume}
        >
          <span>{toast.text}</span>
          {toast.link && <ToastLink {...toast.link} onFollow={queue.dismiss} />}
        </div>
      )}
    </div>
  )
}

type ToastLinkProps = NonNullable<Toast['link']> & { onFollow: () => void }

function ToastLink({ label, href, onSelect, onFollow }: ToastLinkProps) {
  function follow(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    onFollow()
    onSelect()
  }

  if (href === undefined) {
    return (
      <button type="button" className={styles.link} onClick={follow}>
        {label}
      </button>
    )
  }
  return (
    <a className={styles.link} href={href} onClick={follow}>
      {label}
    </a>
  )
}
