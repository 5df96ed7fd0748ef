import { Check } from 'lucide-react'
import styles from './popup.module.css'
import { useFloatingList } from './use-floating-list.ts'

export type Option<Value extends string> = { value: Value; label: string }

type ListboxOptionsProps<Value extends string> = {
  label: string
  options: readonly Option<Value>[]
  value: Value
  anchor: HTMLElement
  onSelect: (value: Value) => void
  onClose: () => void
}

/** The open list of a Listbox, in a lazy chunk because it needs the positioning library. */
export function ListboxOptions<Value extends string>(props: ListboxOptionsProps<Value>) {
  const { label, options, value, anchor, onClose } = props
  const current = options.findIndex((option) => option.value === value)
  const list = useFloatingList({
    anchor,
    labels: options.map((option) => option.label),
    placement: 'bottom-start',
    start: Math.max(0, current),
    onClose,
  })

  function choose(chosen: Value): void {
    list.leave()
    props.onSelect(chosen)
  }

  return (
    <div {...list.listProps} className={styles.popup} role="listbox" aria-label={label}>
      {options.map((option, index) => (
        <button
          {...list.itemProps(index)}
          key={option.value}
          type="button"
          role="option"
          aria-selected={index === current}
          className={styles.item}
          onClick={() => choose(option.value)}
        >
          <span>{option.label}</span>
          {index === current && <Check size={18} className={styles.note} />}
        </button>
      ))}
    </div>
  )
}
