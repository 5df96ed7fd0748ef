import type { ReactNode } from 'react'
import styles from './popup.module.css'
import { useFloatingList } from './use-floating-list.ts'

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

/** The open list of a MenuButton or a Listbox, in a lazy chunk because it needs the positioning library. */
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
    // The focus goes back first, so that a dialog that opens now returns it to the button, not to a closed menu.
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
