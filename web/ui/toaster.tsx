import {
  createContext,
  type MouseEvent,
  type ReactNode,
  useContext,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { type Atom, createAtom, useAtom } from '../platform/atom.ts'
import { isPlainClick } from '../platform/plain-click.ts'
import { createToastQueue, type ToastOptions, type ToastQueue } from './toast-queue.ts'
import styles from './toaster.module.css'

export type Toast = {
  text: string
  /** With `href` a real link, whose plain click calls `onSelect` instead; without, a button. */
  link?: {
    label: string
    href?: string
    onSelect: () => void
    /** Leaves the link out in a dialog, which offers the same itself. */
    pageOnly?: boolean
  }
}

type Toasts = {
  queue: ToastQueue<Toast>
  /** The ids of the regions in which toasts may stand, the topmost last. */
  regions: Atom<readonly string[]>
}

const TIMING = { durationMs: 3500, pauseMs: 700 }

const NO_REGIONS: readonly string[] = []

const ToastsContext = createContext<Toasts | undefined>(undefined)

export function Toaster({ children }: { children: ReactNode }) {
  const [toasts] = useState<Toasts>(() => ({
    queue: createToastQueue(TIMING),
    regions: createAtom(NO_REGIONS),
  }))
  return <ToastsContext value={toasts}>{children}</ToastsContext>
}

/** The function is the same on every render: toast({ text: 'Удалено' }). */
export function useToast(): (toast: Toast, options?: ToastOptions) => void {
  return useToasts().queue.push
}

function useToasts(): Toasts {
  const toasts = useContext(ToastsContext)
  if (!toasts) throw new Error('Toasts need a <Toaster> above them')
  return toasts
}

/** Each open modal has a region too: all outside the topmost modal is inert. */
export function ToastRegion({ inModal = false }: { inModal?: boolean }) {
  const { queue, regions } = useToasts()
  const id = useId()
  const isTopmost = useAtom(regions, NO_REGIONS).at(-1) === id
  const next = useAtom(queue, undefined)
  const toast = isTopmost ? next : undefined
  const link = inModal && toast?.link?.pageOnly ? undefined : toast?.link
  const ref = useRef<HTMLDivElement>(null)

  useLayoutEffect(() => {
    regions.set([...regions.get(), id])
    return () => {
      regions.set(regions.get().filter((other) => other !== id))
      // The pointer cannot leave a toast that is gone with its region.
      queue.resume()
    }
  }, [queue, regions, id])

  // In the top layer, the element shown last is above all others.
  useLayoutEffect(() => {
    if (!toast) return
    ref.current?.hidePopover()
    ref.current?.showPopover()
  }, [toast])

  return (
    <div ref={ref} className={styles.region} role="status" popover="manual">
      {toast && (
        // biome-ignore lint/a11y/noStaticElementInteractions: only stops the timer.
        <div
          className={styles.toast}
          onPointerEnter={queue.pause}
          onPointerLeave={queue.resume}
          onFocus={queue.pause}
          onBlur={queue.resume}
        >
          <span>{toast.text}</span>
          {link && <ToastLink {...link} onFollow={queue.dismiss} />}
        </div>
      )}
    </div>
  )
}

type ToastLinkProps = NonNullable<Toast['link']> & { onFollow: () => void }

function ToastLink({ label, href, onSelect, onFollow }: ToastLinkProps) {
  function follow(event: MouseEvent): void {
    if (!isPlainClick(event)) return
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
