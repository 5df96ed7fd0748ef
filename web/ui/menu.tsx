import {
  autoUpdate,
  flip,
  offset,
  type Placement,
  shift,
  useDismiss,
  useFloating,
  useInteractions,
  useListNavigation,
  useTypeahead,
} from '@floating-ui/react'
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import styles from './popup.module.css'

export type MenuItem = {
  label: string
  icon?: ReactNode
  /** Muted text at the end of the row, such as the time left. */
  note?: string | undefined
  danger?: boolean | undefined
  onSelect: () => void
}

type MenuProps = {
  /** A listbox is a choice between other values than the current one. */
  role: 'menu' | 'listbox'
  label: string
  items: readonly MenuItem[]
  anchor: HTMLElement
  onClose: () => void
}

/** A lazy chunk of its own, because it needs the positioning library. */
export function Menu({ role, label, items, anchor, onClose }: MenuProps) {
  const isMenu = role === 'menu'
  const listRole = { role, 'aria-label': label }
  const itemRole = isMenu ? { role: 'menuitem' } : { role: 'option', 'aria-selected': false }
  const labels = items.map((item) => item.label)
  const list = useFloatingList({
    anchor,
    labels,
    placement: isMenu ? 'bottom-end' : 'bottom-start',
    onClose,
  })

  function choose(item: MenuItem): void {
    // The focus goes back first: a dialog that opens now returns it to the button.
    list.leave()
    item.onSelect()
  }

  return (
    <div {...list.listProps} {...listRole} className={styles.popup}>
      {items.map((item, index) => (
        <button
          {...list.itemProps(index)}
          {...itemRole}
          key={item.label}
          type="button"
          className={styles.item}
          data-danger={item.danger || undefined}
          onClick={() => choose(item)}
        >
          {item.icon}
          <span>{item.label}</span>
          {item.note && <span className={styles.note}>{item.note}</span>}
        </button>
      ))}
    </div>
  )
}

const EDGE = { padding: 8 }

type FloatingList = {
  anchor: HTMLElement
  labels: readonly string[]
  placement: Placement
  onClose: () => void
}

/** Shows a list at its anchor, and moves the focus through it by arrows, Home, End and letters. */
export function useFloatingList({ anchor, labels, placement, onClose }: FloatingList) {
  const items = useRef<(HTMLElement | null)[]>([])
  const names = useRef<(string | null)[]>([])
  const [activeIndex, setActiveIndex] = useState<number | null>(0)
  names.current = [...labels]

  const { refs, elements, floatingStyles, context } = useFloating({
    open: true,
    onOpenChange: (open, _event, reason) => {
      if (open) return
      // A press beside the list only closes it, and activates nothing that happens to lie there.
      if (reason === 'outside-press') swallowClick()
      onClose()
    },
    elements: { reference: anchor },
    placement,
    strategy: 'fixed',
    middleware: [offset(4), flip(EDGE), shift(EDGE)],
    whileElementsMounted: autoUpdate,
  })
  const { getFloatingProps, getItemProps } = useInteractions([
    useListNavigation(context, {
      listRef: items,
      activeIndex,
      onNavigate: setActiveIndex,
      loop: true,
    }),
    useTypeahead(context, {
      listRef: names,
      activeIndex,
      onMatch: setActiveIndex,
      resetMs: 350,
    }),
    // Escape is handled below: it must not reach a modal around the list.
    useDismiss(context, { escapeKey: false }),
  ])
  useTopLayer(elements.floating, () => items.current[0]?.focus({ preventScroll: true }))

  function leave(): void {
    // Chromium would scroll to where a sticky header would stand without sticking.
    anchor.focus({ preventScroll: true })
    onClose()
  }

  function closeByKey(event: KeyboardEvent): void {
    if (event.key === 'Tab') leave()
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    leave()
  }

  return {
    leave,
    listProps: {
      ...getFloatingProps({ onKeyDown: closeByKey }),
      ref: refs.setFloating,
      style: floatingStyles,
      popover: 'manual' as const,
    },
    itemProps: (index: number) => ({
      ...getItemProps(),
      ref: (element: HTMLElement | null) => {
        items.current[index] = element
      },
      tabIndex: index === activeIndex ? 0 : -1,
    }),
  }
}

/** The top layer is above dialogs and not clipped by any ancestor. */
function useTopLayer(element: HTMLElement | null, onShown: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the element exists.
  useLayoutEffect(() => {
    if (!element || element.matches(':popover-open')) return
    element.showPopover()
    // The next key press may already be meant for the list.
    onShown()
  }, [element])
}

/**
 * The press has already closed what was in front, so the click that ends it must not reach the
 * page. A press that ends without a click, such as a scroll, does not affect the next one.
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
