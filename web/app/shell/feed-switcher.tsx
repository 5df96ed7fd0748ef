import { Listbox } from '../../ui/listbox.tsx'
import styles from './feed-switcher.module.css'

type FeedSwitcherProps<Value extends string> = {
  options: readonly { value: Value; label: string }[]
  /** The view shown now; it is not offered. */
  current: Value
  onSelect: (value: Value) => void
}

/** The title of a top-level page and the way to the other views. */
export function FeedSwitcher<Value extends string>(props: FeedSwitcherProps<Value>) {
  return (
    <h1 className={styles.title}>
      <Listbox
        label="Какие записи показать"
        className={styles.button}
        options={props.options}
        value={props.current}
        onSelect={props.onSelect}
        hideCurrent
      />
    </h1>
  )
}
