import type { ReactNode } from 'react'
import styles from './popup.module.css'
import { useFloatingList } from './use-floating-list.ts'

export type MenuItem = {
  label: string
  icon?: ReactNode
  /** Quiet text at the end of the row, such as the time left. */
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

/** The open menu of a MenuButton. Loaded when first wanted, for it brings the positioning library. */
export function Menu({ label, items, anchor, onClose }: MenuProps) {
  const labels = items.map((item) => item.label)
  const list = useFloatingList({ anchor, labels, placement: 'bottom-end', start: 0, onClose })

  function choose(item: MenuItem): void {
    // Focus goes back first: a dialog that opens now will return it to the button, not to a menu that is gone.
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
