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
  label: string
  items: readonly MenuItem[]
  anchor: HTMLElement
  onClose: () => void
}

/** The open menu of a MenuButton, in a lazy chunk because it needs the positioning library. */
export function Menu({ label, items, anchor, onClose }: MenuProps) {
  const labels = items.map((item) => item.label)
  const list = useFloatingList({ anchor, labels, placement: 'bottom-end', start: 0, onClose })

  function choose(item: MenuItem): void {
    // The focus goes back first, so that a dialog that opens now returns it to the button, not to a closed menu.
    list.leave()
    item.onSelect()
  }

  return (
    <div {...list.listProps} className={styles.popup} role="menu" aria-label={label}>
      {items.map((item, index) => (
        <button
          {...list.itemProps(index)}
          key={item.label}
          type="button"
          role="menuitem"
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
