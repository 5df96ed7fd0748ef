import {
  createContext,
  type MouseEvent,
  type ReactNode,
  useContext,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { createToastQueue, type ToastQueue } from './toast-queue.ts'
import styles from './toaster.module.css'

export type Toast = {
  text: string
  /** With `href` a real link that a plain click hands to onSelect, for the router; without, a button. */
  link?: { label: string; href?: string; onSelect: () => void }
}

/** How long one is shown, and how long nothing is shown before the next. */
const TIMING = { durationMs: 3500, pauseMs: 700 }

const QueueContext = createContext<ToastQueue<Toast> | undefined>(undefined)

/** Gives useToast() to what is inside, and shows the toasts one after another. */
export function Toaster({ children }: { children: ReactNode }) {
  const [queue] = useState(() => createToastQueue<Toast>(TIMING))
  return (
    <QueueContext value={queue}>
      {children}
      <ToastRegion queue={queue} />
    </QueueContext>
  )
}

/** The function that tells the person a result: toast({ text: 'Удалено' }). The same on every render. */
export function useToast(): (toast: Toast) => void {
  const queue = useContext(QueueContext)
  if (!queue) throw new Error('useToast() needs a <Toaster> above it')
  return queue.push
}

function ToastRegion({ queue }: { queue: ToastQueue<Toast> }) {
  const toast = useSyncExternalStore(queue.subscribe, queue.current, () => undefined)
  const ref = useRef<HTMLDivElement>(null)

  // Shown anew for each toast: of two things in the top layer, the later one is above.
  useLayoutEffect(() => {
    if (!toast) return
    ref.current?.hidePopover()
    ref.current?.showPopover()
  }, [toast])

  return (
    <div ref={ref} className={styles.region} role="status" popover="manual">
      {toast && (
        // biome-ignore lint/a11y/noStaticElementInteractions: only stops the clock while it is read.
        <div
          className={styles.toast}
          onPointerEnter={queue.hold}
          onPointerLeave={queue.resume}
          onFocus={queue.hold}
          onBlur={queue.resume}
        >
          <span>{toast.text}</span>
          {toast.link && <ToastLink {...toast.link} onLeave={queue.dismiss} />}
        </div>
      )}
    </div>
  )
}

type ToastLinkProps = NonNullable<Toast['link']> & { onLeave: () => void }

function ToastLink({ label, href, onSelect, onLeave }: ToastLinkProps) {
  function follow(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    onLeave()
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
