import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { classes } from '../classes.ts'
import styles from './menu.module.css'
import { place } from './menu.tsx'

type Suggestion = { id: string; label: string; icon: ReactNode }

type SuggestionsProps = {
  /** The id of the list; those of its options begin with it. */
  id: string
  label: string
  items: readonly Suggestion[]
  /** The index of the option that the field names as its active descendant. */
  active: number
  /** The element beside which the list is shown. */
  anchor: RefObject<HTMLElement | null>
  onPoint: (index: number) => void
  onChoose: (index: number) => void
}

export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`
}

/** Shows options for a text field, which keeps the focus, in the top layer while it is mounted. */
export function Suggestions({ id, label, items, active, anchor, ...on }: SuggestionsProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { current } = list
    current?.showPopover()
    return () => current?.hidePopover()
  }, [])

  // After each render, because the text and the options change while the list is open.
  useLayoutEffect(() => {
    if (list.current && anchor.current) place(list.current, anchor.current, 'start')
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  })

  useEffect(() => {
    const stop = new AbortController()
    const follow = () => {
      if (list.current && anchor.current) place(list.current, anchor.current, 'start')
    }
    const options = { capture: true, passive: true, signal: stop.signal }
    addEventListener('scroll', follow, options)
    addEventListener('resize', follow, options)
    visualViewport?.addEventListener('resize', follow, options)
    return () => stop.abort()
  }, [anchor])

  return (
    <div
      ref={list}
      id={id}
      role="listbox"
      aria-label={label}
      className={styles.list}
      popover="manual"
      // The field keeps the focus, and a phone its keyboard.
      onMouseDown={(event) => event.preventDefault()}
    >
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
        // biome-ignore lint/a11y/useFocusableInteractive: the field names it as its active descendant.
        <div
          key={item.id}
          id={optionId(id, index)}
          role="option"
          aria-selected={index === active}
          className={classes('line', styles.item)}
          onPointerMove={() => on.onPoint(index)}
          onClick={() => on.onChoose(index)}
        >
          {item.icon}
          <span>{item.label}</span>
        </div>
      ))}
    </div>
  )
}
