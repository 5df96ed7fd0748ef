import { ChevronDown } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { classes } from './classes.ts'
import styles from './listbox.module.css'
import type { Option } from './listbox-options.tsx'
import { usePopup } from './use-popup.ts'

type ListboxProps<Value extends string> = {
  /** The accessible name of the list. The button is named by the chosen option. */
  label: string
  options: readonly Option<Value>[]
  value: Value
  onSelect: (value: Value) => void
  /** Omits the chosen option from the list. */
  hideCurrent?: boolean
  className?: string | undefined
}

const loadOptions = () => import('./listbox-options.tsx')

/** A button that shows the chosen option and opens the list of all. */
export function Listbox<Value extends string>(props: ListboxProps<Value>) {
  const { label, options, value, hideCurrent = false } = props
  const popup = usePopup(loadOptions)
  const ListboxOptions = popup.content?.ListboxOptions

  function openByKey(event: KeyboardEvent): void {
    if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || popup.open) return
    event.preventDefault()
    void popup.show()
  }

  return (
    <>
      <button
        ref={popup.anchor}
        type="button"
        className={classes(styles.button, props.className)}
        aria-haspopup="listbox"
        aria-expanded={popup.open}
        onClick={popup.toggle}
        onKeyDown={openByKey}
        onPointerEnter={popup.preload}
        onFocus={popup.preload}
      >
        {options.find((option) => option.value === value)?.label}
        <ChevronDown size={18} className={styles.chevron} aria-hidden="true" />
      </button>
      {ListboxOptions && popup.anchor.current && (
        <ListboxOptions
          label={label}
          options={hideCurrent ? options.filter((option) => option.value !== value) : options}
          value={value}
          anchor={popup.anchor.current}
          onSelect={props.onSelect}
          onClose={popup.close}
        />
      )}
    </>
  )
}
