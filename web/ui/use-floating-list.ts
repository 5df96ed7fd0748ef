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
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import { swallowClick } from './swallow-click.ts'

const TYPEAHEAD_RESET_MS = 350
const EDGE = { padding: 8 }

type FloatingList = {
  anchor: HTMLElement
  labels: readonly string[]
  placement: Placement
  /** The item to stand on at first. */
  start: number
  onClose: () => void
}

/** Places a list at its anchor, in the top layer, and moves real focus through it by arrows, Home, End and letters. */
export function useFloatingList({ anchor, labels, placement, start, onClose }: FloatingList) {
  const items = useRef<(HTMLElement | null)[]>([])
  const names = useRef<(string | null)[]>([])
  const [activeIndex, setActiveIndex] = useState<number | null>(start)
  names.current = [...labels]

  const { refs, elements, floatingStyles, context } = useFloating({
    open: true,
    onOpenChange: (open, _event, reason) => {
      if (open) return
      // Who presses beside the list wants it gone, not what happens to lie there.
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
      resetMs: TYPEAHEAD_RESET_MS,
    }),
    // Escape is handled below: it must not reach a modal that the list stands in.
    useDismiss(context, { escapeKey: false }),
  ])
  useTopLayer(elements.floating, () => items.current[start]?.focus({ preventScroll: true }))

  function leave(): void {
    anchor.focus()
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

/** Above dialogs, and cut by no ancestor, without leaving its place in the document. */
function useTopLayer(element: HTMLElement | null, onShown: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is there.
  useLayoutEffect(() => {
    if (!element || element.matches(':popover-open')) return
    element.showPopover()
    // In this very frame: the next key press of a quick hand is already meant for the list.
    onShown()
  }, [element])
}
