import { X } from 'lucide-react'
import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useId,
  useLayoutEffect,
  useRef,
} from 'react'
import { IconButton } from './icon-button.tsx'
import styles from './modal.module.css'

type ModalProps = {
  title: string
  /** Asked for by Escape, the backdrop, the back gesture or «Закрыть»; unmount the modal to agree. */
  onClose: () => void
  children: ReactNode
  size?: 's' | 'm'
  /** On a phone: a sheet at the bottom, or the whole screen where one writes. */
  phone?: 'sheet' | 'full'
}

/** A dialog over the page, open as long as it is mounted. Focus stays inside and returns where it was. */
export function Modal({ title, onClose, children, size = 'm', phone = 'sheet' }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useShowModal(ref)
  const backdrop = useBackdropPress(ref, onClose)

  function closeByKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    // The browser must not close it by itself: the page decides, and a repeated Escape cannot overrule it.
    event.preventDefault()
    if (!isComposing(event)) onClose()
  }

  return (
    <dialog
      {...backdrop}
      ref={ref}
      className={styles.dialog}
      data-size={size}
      data-phone={phone}
      aria-labelledby={titleId}
      tabIndex={-1}
      onKeyDown={closeByKey}
      onCancel={(event) => {
        if (event.target !== ref.current) return
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        if (ref.current?.open === false) onClose()
      }}
    >
      <div className={styles.panel}>
        <header className={styles.header}>
          <h2 id={titleId} className={styles.title}>
            {title}
          </h2>
          <IconButton label="Закрыть" icon={<X size={20} />} onClick={onClose} />
        </header>
        <div className={styles.body}>{children}</div>
      </div>
    </dialog>
  )
}

/** The row of buttons at the end of a modal; may stand inside a form. It stays in sight while the rest scrolls. */
export function ModalFooter({ children }: { children: ReactNode }) {
  return <footer className={styles.footer}>{children}</footer>
}

function useShowModal(ref: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    dialog.showModal()
    // Else «Закрыть» would have the focus; a field with focusOnMount takes it a moment later.
    dialog.focus()
    return () => dialog.close()
  }, [ref])
}

/**
 * Closes when a press both began and ended on the backdrop: not when a selection of text is dragged there. Only with its
 * click: after a touch, that comes later than the rest of the press, and would reach the page behind.
 */
function useBackdropPress(ref: RefObject<HTMLDialogElement | null>, onClose: () => void) {
  const isBeside = useRef(false)
  return {
    onPointerDown: (event: PointerEvent) => {
      isBeside.current = event.target === ref.current
    },
    onPointerUp: (event: PointerEvent) => {
      isBeside.current &&= event.target === ref.current
    },
    onClick: (event: MouseEvent) => {
      if (isBeside.current && event.target === ref.current) onClose()
      isBeside.current = false
    },
  }
}

/** Safari says isComposing: false for the key that ends a composition, but keeps the code 229. */
function isComposing(event: KeyboardEvent): boolean {
  return event.nativeEvent.isComposing || event.keyCode === 229
}
