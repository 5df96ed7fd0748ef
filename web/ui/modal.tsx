import { X } from 'lucide'
import {
  type ComponentProps,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useRef,
} from 'react'
import { pageFlags } from '../platform/flags.ts'
import { Button, IconButton } from './button.tsx'
import { classes } from './classes.ts'
import { FormError } from './errors.tsx'
import { Icon } from './icon.tsx'
import styles from './modal.module.css'
import { ToastRegion } from './toaster.tsx'

type ModalProps = {
  title: string
  /** What people see in place of the title. */
  heading?: ReactNode
  /**
   * Called by Escape, the backdrop, the back gesture and «Закрыть»; unmount the modal to close it.
   */
  onClose: () => void
  children: ReactNode
  size?: 's' | 'm'
  /** On a phone: a sheet at the bottom, or the whole screen for a dialog in which one writes. */
  phone?: 'sheet' | 'full'
}

/** Open as long as it is mounted. The focus stays inside, and then returns to where it was. */
export function Modal(props: ModalProps) {
  const { title, heading = title, onClose, children, size = 'm', phone = 'sheet' } = props
  const ref = useRef<HTMLDialogElement>(null)
  useShowModal(ref)
  useAboveKeyboard(ref)
  const backdrop = useBackdropPress(ref, onClose)

  function handleKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    // The page decides whether the dialog closes, also after a second Escape.
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
      aria-label={title}
      tabIndex={-1}
      onKeyDown={handleKey}
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
          <h2 className={classes('heading', styles.title)}>{heading}</h2>
          <IconButton label="Закрыть" icon={<Icon shape={X} size={20} />} onClick={onClose} />
        </header>
        <div className={styles.body}>{children}</div>
      </div>
      <ToastRegion inModal />
    </dialog>
  )
}

type ModalFooterProps = {
  children: ReactNode
  /** Puts the row into the header of a modal that takes the whole screen of a phone. */
  inPhoneHeader?: boolean
}

/** The row stays visible while the rest scrolls, and may stand inside a form. */
export function ModalFooter({ children, inPhoneHeader = false }: ModalFooterProps) {
  return (
    <footer className={styles.footer} data-in-header={inPhoneHeader || undefined}>
      {children}
    </footer>
  )
}

type AskFooterProps = Omit<ComponentProps<typeof Button>, 'onClick'> & {
  errorLine?: ComponentProps<typeof FormError>
  onConfirm?: () => void
  onClose: () => void
}

/** The end of a dialog that asks: «Отмена», and the button that confirms, if there is one. */
export function AskFooter({ errorLine, onConfirm, onClose, ...confirm }: AskFooterProps) {
  return (
    <>
      {errorLine && <FormError {...errorLine} />}
      <ModalFooter>
        <Button onClick={onClose}>Отмена</Button>
        {confirm.children && <Button variant="confirm" {...confirm} onClick={onConfirm} />}
      </ModalFooter>
    </>
  )
}

function useShowModal(ref: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    // Without a field it is the dialog, whose name is then read; the browser would take «Закрыть».
    const first = dialog.querySelector<HTMLElement>('[autofocus]') ?? dialog
    first.autofocus = true
    dialog.showModal()
    // Older browsers look for it among what the dialog contains.
    if (document.activeElement !== first) first.focus()
    holdPage(true)
    return () => {
      holdPage(false)
      dialog.close()
      dropCaret()
    }
  }, [ref])
}

/**
 * By an attribute, on which base.css keeps the page from scrolling: for `html:has(dialog:modal)` the
 * browser looked through all posts with each change of the page, 30 ms of a slowed processor for a
 * tap among 1,000.
 */
function holdPage(isHeld: boolean): void {
  if (isHeld) pageFlags().modal = ''
  else delete pageFlags().modal
}

/**
 * Chromium searches all posts for a visible place for the caret that a closed dialog's field
 * leaves: 330 ms of a slowed processor among 1,000 posts. Selected text stays selected. When a
 * dialog opens, this would style the page once more.
 */
function dropCaret(): void {
  const selection = getSelection()
  if (selection?.isCollapsed) selection.removeAllRanges()
}

/** Only iOS needs it: it ignores `interactive-widget`, by which the page shrinks elsewhere. */
function useAboveKeyboard(ref: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const viewport = window.visualViewport
    if (!viewport) return
    const adjust = () => {
      const dialog = ref.current
      // Somebody who zooms in moves around in the dialog, which must stay where it is.
      if (!dialog || viewport.scale !== 1) return
      const top = Math.max(0, viewport.offsetTop)
      const below = Math.max(0, document.documentElement.clientHeight - top - viewport.height)
      // To set them to 0 would style the whole dialog once more when it opens.
      if (top || below || dialog.style.length) {
        dialog.style.cssText = `--above-visible: ${top}px; --below-visible: ${below}px`
      }
      const focused = document.activeElement
      if (below > 0 && focused instanceof HTMLInputElement && dialog.contains(focused)) {
        focused.scrollIntoView({ block: 'center' })
      }
    }
    adjust()
    viewport.addEventListener('resize', adjust)
    viewport.addEventListener('scroll', adjust)
    return () => {
      viewport.removeEventListener('resize', adjust)
      viewport.removeEventListener('scroll', adjust)
    }
  }, [ref])
}

/**
 * A text selection may be dragged to the backdrop, so the press must begin and end there. The click
 * comes last after a touch, and would otherwise reach the page behind.
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

/** Safari ends a composition with isComposing: false and the key code 229. */
function isComposing(event: KeyboardEvent): boolean {
  return event.nativeEvent.isComposing || event.keyCode === 229
}
