import { X } from 'lucide'
import {
  type ComponentProps,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useEffectEvent,
  useLayoutEffect,
  useRef,
} from 'react'
import { pageFlags } from '../../platform/flags.ts'
import { Button, IconButton, isSecondClick } from '../button.tsx'
import { classes } from '../classes.ts'
import { Icon } from '../icon.tsx'
import { FormError } from '../states/errors.tsx'
import styles from './modal.module.css'
import { followModal } from './open-modal.ts'
import { ToastRegion } from './toaster.tsx'

type ModalProps = {
  title: string
  /** Shown instead of the title, which stays the accessible name. */
  heading?: ReactNode
  /** Called by Escape, the backdrop, «Назад» and «Закрыть»; unmount the modal to close it. */
  onClose: () => void
  children: ReactNode
  /** Whether it is for writing: it is wider, and fills the screen of a phone. */
  isLarge?: boolean
}

/** Shows a dialog while it is mounted. Keeps the focus inside, and returns it when closed. */
export function Modal(props: ModalProps) {
  const { title, heading = title, onClose, children, isLarge = false } = props
  const ref = useRef<HTMLDialogElement>(null)
  useShowModal(ref)
  const close = useEffectEvent(onClose)
  useLayoutEffect(() => followModal(() => close()), [])
  useAboveKeyboard(ref)
  const backdrop = useBackdropPress(ref, onClose)

  function handleKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    // The app decides whether the dialog closes. Browsers would close it at a second Escape.
    event.preventDefault()
    // Safari ends a composition with isComposing: false and the key code 229.
    if (!event.nativeEvent.isComposing && event.keyCode !== 229) onClose()
  }

  return (
    <dialog
      {...backdrop}
      ref={ref}
      className={styles.dialog}
      data-large={isLarge || undefined}
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
        <header className={classes('line', styles.header)}>
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
  /** Puts the row into the header of a large modal on a phone. */
  inPhoneHeader?: boolean
}

/** Shows a row of buttons that stays visible while the rest scrolls. It may be inside a form. */
export function ModalFooter({ children, inPhoneHeader = false }: ModalFooterProps) {
  return (
    <footer className={classes('wrap', styles.footer)} data-in-header={inPhoneHeader || undefined}>
      {children}
    </footer>
  )
}

type AskFooterProps = Omit<ComponentProps<typeof Button>, 'onClick'> & {
  action?: { isPending: boolean; errorLine: ComponentProps<typeof FormError> }
  onConfirm?: () => void
  onClose: () => void
}

/** Shows «Отмена», and the button that confirms, if it has a label. */
export function AskFooter({ action, onConfirm, onClose, ...confirm }: AskFooterProps) {
  return (
    <>
      {action && <FormError {...action.errorLine} />}
      <ModalFooter>
        <Button onClick={onClose}>Отмена</Button>
        {confirm.children && (
          <Button variant="confirm" {...confirm} pending={action?.isPending} onClick={onConfirm} />
        )}
      </ModalFooter>
    </>
  )
}

function useShowModal(ref: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    // Without a field, the dialog takes the focus, so that its name is read, not «Закрыть».
    const first = dialog.querySelector<HTMLElement>('[autofocus]') ?? dialog
    first.autofocus = true
    // By this flag base.css keeps the page from scrolling. With `html:has(dialog:modal)` the
    // browser checked all posts at each change of the page, for 30 ms on a slowed processor at a
    // tap among 1,000 posts. It is set first, so that the page is styled once.
    pageFlags().modal = ''
    dialog.showModal()
    // Older browsers look for autofocus only inside the dialog.
    if (document.activeElement !== first) first.focus()
    return () => {
      delete pageFlags().modal
      dialog.close()
      dropCaret()
    }
  }, [ref])
}

/**
 * Removes the caret of a closed dialog's field, for which Chromium would search all posts for a
 * visible place: 330 ms of a slowed processor among 1,000 posts. Selected text stays selected. Not
 * called when a dialog opens, because this would style the page once more.
 */
function dropCaret(): void {
  const selection = getSelection()
  if (selection?.isCollapsed) selection.removeAllRanges()
}

/** Keeps the dialog above the keyboard of iOS, which ignores `interactive-widget`. */
function useAboveKeyboard(ref: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const viewport = window.visualViewport
    if (!viewport) return
    const adjust = () => {
      const dialog = ref.current
      // A person who has zoomed in pans around the dialog, which must not move.
      if (!dialog || viewport.scale !== 1) return
      const top = Math.max(0, viewport.offsetTop)
      const below = Math.max(0, document.documentElement.clientHeight - top - viewport.height)
      // Setting both to 0 would style the whole dialog once more when it opens.
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
 * Closes at a press that begins and ends on the backdrop, to which a text selection may be dragged.
 * Waits for the click, which comes last after a touch, and would otherwise reach the page behind.
 */
function useBackdropPress(ref: RefObject<HTMLDialogElement | null>, onClose: () => void) {
  const isBeside = useRef(false)
  return {
    onPointerDown: (event: PointerEvent) => {
      isBeside.current = event.target === ref.current
    },
    onMouseDown: (event: MouseEvent) => {
      // Keeps the focus in the field, if the press does not close the dialog.
      if (event.target === ref.current) event.preventDefault()
    },
    onPointerUp: (event: PointerEvent) => {
      isBeside.current &&= event.target === ref.current
    },
    onClick: (event: MouseEvent) => {
      const isPress = isBeside.current && event.target === ref.current
      if (isPress && !isSecondClick(event)) onClose()
      isBeside.current = false
    },
  }
}
