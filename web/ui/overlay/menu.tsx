import type { IconNode } from 'lucide'
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { classes } from '../classes.ts'
import { Icon } from '../icon.tsx'
import { Pause } from '../pause.tsx'
import styles from './menu.module.css'

export type MenuItem = {
  label: string
  icon?: IconNode
  /** Muted text at the end of the row, such as the time left. */
  note?: string | undefined
  danger?: boolean | undefined
  onSelect: () => void
}

export type MenuProps = {
  role: 'menu' | 'listbox'
  label: string
  items: readonly MenuItem[]
  /** The button below which the list opens, or above which if there is more room. */
  button: HTMLElement
  onClose: () => void
}

/** The gap between a list and its button. EDGE_PX is the smallest gap to the screen's edges. */
const GAP_PX = 4
const EDGE_PX = 8
const WORD_PAUSE_MS = 350

/** Shows a list in the top layer while it is mounted. One of its items has the focus. */
export function Menu({ role, label, items, button, onClose }: MenuProps) {
  const list = useRef<HTMLDivElement>(null)
  const itemRole =
    role === 'menu' ? { role: 'menuitem' } : { role: 'option', 'aria-selected': false }
  const findByLetter = useTypeahead(items)
  usePopover(list, { button, side: role === 'menu' ? 'end' : 'start', onClose: leave })

  function leave(): void {
    // Chromium would scroll to the position that a sticky header has without sticking.
    button.focus({ preventScroll: true })
    onClose()
  }

  function choose(item: MenuItem): void {
    // The focus moves back first, because a dialog that opens now returns it to the button.
    leave()
    item.onSelect()
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    const elements = [...event.currentTarget.children] as HTMLElement[]
    const at = elements.indexOf(document.activeElement as HTMLElement)
    const { key } = event
    const down = (at + 1) % elements.length
    const steps: Record<string, number> = { ArrowDown: down, ArrowUp: at - 1, Home: 0, End: -1 }
    const to = steps[key] ?? findByLetter(event, at)
    if (key === 'Escape' || key === 'Tab') leave()
    else if (to === undefined) return
    else elements.at(to)?.focus()
    // The browser moves the focus on from the button.
    if (key === 'Tab') return
    event.preventDefault()
    // Escape must not reach a dialog around the list.
    event.stopPropagation()
  }

  const listProps = { role, 'aria-label': label, onKeyDown }
  return (
    <div {...listProps} ref={list} className={styles.list} popover="manual">
      {items.map((item) => (
        <button
          {...itemRole}
          key={item.label}
          type="button"
          tabIndex={-1}
          className={classes('line focus-inside', styles.item)}
          data-danger={item.danger || undefined}
          onClick={() => choose(item)}
          onPointerMove={({ currentTarget }) => currentTarget.focus({ preventScroll: true })}
        >
          {item.icon && <Icon shape={item.icon} size={18} />}
          <span>{item.label}</span>
          {item.note && (
            <>
              <Pause mark="," />
              <span className={styles.note}>{item.note}</span>
            </>
          )}
        </button>
      ))}
    </div>
  )
}

/** Returns a function that finds the next item that begins with the typed letters. */
function useTypeahead(items: readonly MenuItem[]) {
  const last = useRef({ word: '', at: 0 })

  return (event: KeyboardEvent, at: number): number | undefined => {
    const letter = event.key.toLowerCase()
    const before = event.timeStamp - last.current.at > WORD_PAUSE_MS ? '' : last.current.word
    // A space before any letter presses the item.
    const isTyped = letter.length === 1 && (letter !== ' ' || before !== '')
    if (!isTyped || event.ctrlKey || event.metaKey || event.altKey) return
    const word = before + letter
    last.current = { word, at: event.timeStamp }
    const isRepeated = word === letter.repeat(word.length)
    const text = isRepeated ? letter : word
    const following = [...items.slice(isRepeated ? at + 1 : at), ...items]
    const found = following.find(({ label }) => label.toLowerCase().startsWith(text))
    return found ? items.indexOf(found) : at
  }
}

type Popover = { button: HTMLElement; side: 'start' | 'end'; onClose: () => void }

function usePopover(list: RefObject<HTMLElement | null>, { button, side, onClose }: Popover): void {
  useLayoutEffect(() => {
    const { current } = list
    current?.showPopover()
    return () => current?.hidePopover()
  }, [list])

  // After each render, because the items may change while the list is open.
  useLayoutEffect(() => {
    const { current } = list
    if (!current) return
    place(current, button, side)
    // Focuses at once, because the next key press may already be meant for the list.
    if (!current.contains(document.activeElement)) {
      current.querySelector('button')?.focus({ preventScroll: true })
    }
  })

  useEffect(() => {
    const stop = new AbortController()
    const options = { capture: true, signal: stop.signal }
    const follow = () => {
      const { top, bottom } = button.getBoundingClientRect()
      if (bottom < 0 || top > innerHeight) onClose()
      else if (list.current) place(list.current, button, side)
    }
    addEventListener('scroll', follow, { ...options, passive: true })
    addEventListener('resize', follow, options)
    addEventListener('popstate', onClose, options)
    addEventListener(
      'pointerdown',
      ({ target }) => {
        if ([list.current, button].some((it) => it?.contains(target as Node))) return
        // A press outside the list only closes it, and does not activate what is there.
        swallowClick()
        onClose()
      },
      options,
    )
    return () => stop.abort()
  }, [list, button, side, onClose])
}

/**
 * Places the list below an element, or above it if there is more room. CSS anchors flip or shorten a
 * list, but cannot try one before the other.
 */
export function place(list: HTMLElement, beside: HTMLElement, side: Popover['side']): void {
  const anchor = beside.getBoundingClientRect()
  const { clientWidth, clientHeight } = document.documentElement
  // The keyboard of iOS covers a part of the page.
  const { offsetTop = 0, height: visible = clientHeight } = visualViewport ?? {}
  const below = Math.min(clientHeight, offsetTop + visible) - anchor.bottom - GAP_PX - EDGE_PX
  const above = anchor.top - offsetTop - GAP_PX - EDGE_PX
  const whole = list.scrollHeight + list.offsetHeight - list.clientHeight
  const isBelow = whole <= below || above <= below
  const height = Math.min(whole, Math.max(above, below))
  const left = side === 'start' ? anchor.left : anchor.right - list.offsetWidth
  const rightmost = clientWidth - EDGE_PX - list.offsetWidth
  list.style.maxHeight = `${height}px`
  list.style.top = `${isBelow ? anchor.bottom + GAP_PX : anchor.top - GAP_PX - height}px`
  list.style.left = `${Math.max(EDGE_PX, Math.min(left, rightmost))}px`
}

/**
 * Stops the click that ends a press outside the list, because the press has only closed the list. A
 * press that ends without a click, such as a scroll, does not affect the next one.
 */
function swallowClick(): void {
  const done = new AbortController()
  const options = { capture: true, signal: done.signal }
  const end = () => done.abort()
  addEventListener(
    'click',
    (event) => {
      event.preventDefault()
      event.stopPropagation()
      end()
    },
    options,
  )
  addEventListener('pointerdown', end, options)
  addEventListener('keydown', end, options)
}
