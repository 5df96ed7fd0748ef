/**
 * Moves the focus if the focused element is removed, because browsers drop it then: from an overlay
 * to where it was before, from a row or card to the next one, or else to the content. Does not
 * scroll.
 */

import { CONTENT, focusContent } from '../history/entry.tsx'
import { isOwn, isOwnKey } from '../platform/own-target.ts'

const OVERLAYS = 'dialog, [popover]'
const CARD = 'article[tabindex]'
const IN_ROWS = `${CARD}, section li a, section li button`

/** The element that has the focus, or had it when it was removed, and whether it shows a ring. */
let focused: Element = document.body
let focusVisible = false
/** The element in which Enter was pressed last. */
let pressed: EventTarget | null
/** Whether a mouse was pressed last, and the overlay in which its first press of a double click was. */
let isMouse = false
let clickedIn: Element | null = null
/** The last focused element outside overlays, and its place, which remains after a removal. */
let below = document.body
const place = document.createRange()

rememberFocus()
document.addEventListener('focusin', rememberFocus)
document.addEventListener('focusout', ({ relatedTarget }) => {
  // Chromium reports a removal too, and only later removes the element.
  if (!relatedTarget) queueMicrotask(() => focused.isConnected && rememberFocus())
})
document.addEventListener('keydown', stopRepeat, { capture: true })
document.addEventListener('pointerdown', rememberPointer, { capture: true, passive: true })
document.addEventListener('mousedown', stopSecondPress, { capture: true })
document.addEventListener('click', stopSecondPress, { capture: true })
new MutationObserver(restoreFocus).observe(document.body, { childList: true, subtree: true })

function rememberFocus(): void {
  const { activeElement } = document
  if (!isOwn(activeElement)) return
  focused = activeElement
  focusVisible = focused.matches(':focus-visible')
  if (focused.closest(OVERLAYS)) return
  below = focused as HTMLElement
  place.selectNode(below)
}

function restoreFocus(): void {
  if (focused.isConnected || document.activeElement !== document.body) return
  const dialog = document.querySelector<HTMLElement>('dialog[open]')
  const next = dialog ?? (below.isConnected ? below : neighbour())
  next?.focus({ preventScroll: true, focusVisible } as FocusOptions)
  if (document.activeElement === document.body) focusContent()
}

/** Makes a held Enter act once, and not on what it has shown. It repeats only the lines of a text. */
function stopRepeat(event: KeyboardEvent): void {
  const { key, repeat, target } = event
  if (key !== 'Enter' || !isOwnKey(target)) return
  if (!repeat) pressed = target
  if (!repeat || (target === pressed && target instanceof HTMLTextAreaElement)) return
  event.preventDefault()
  event.stopPropagation()
}

function rememberPointer({ pointerType }: PointerEvent): void {
  isMouse = pointerType === 'mouse'
}

/**
 * Makes a double click act, and move the focus, in one place. Its second press does nothing in an
 * overlay that the first press has opened, or on the page below an overlay that it has closed.
 */
function stopSecondPress(event: MouseEvent): void {
  const { type, detail, target } = event
  const overlay = target instanceof Element ? target.closest(OVERLAYS) : null
  if (type === 'mousedown' && detail === 1) clickedIn = overlay
  if (!isMouse || detail < 2 || overlay === clickedIn) return
  event.preventDefault()
  event.stopPropagation()
}

/** Returns the card around the removed element, or else the row or card after or before it. */
function neighbour(): HTMLElement | null | undefined {
  const parent = place.startContainer as HTMLElement
  // The whole page was replaced.
  if (parent.id === CONTENT) return
  const scope = parent.closest(`section, #${CONTENT}`)
  const rows = [...(scope?.querySelectorAll<HTMLElement>(IN_ROWS) ?? [])]
  const next = rows.find((row) => place.comparePoint(row, 0) > 0)
  return parent.closest<HTMLElement>(CARD) ?? next ?? rows.at(-1)
}
