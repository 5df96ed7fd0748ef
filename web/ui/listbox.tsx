import { ChevronDown } from 'lucide'
import { useHydrated } from '../platform/hydrated.ts'
import { createLazyChunk } from '../platform/lazy-chunk.ts'
import { classes } from './classes.ts'
import { Icon } from './icon.tsx'
import { Lazy } from './lazy.tsx'
import styles from './listbox.module.css'
import { useMenuButton } from './use-menu-button.ts'

export const menu = createLazyChunk(() => import('./menu.tsx'), 'Menu')

type Option<Value extends string> = { value: Value; label: string }

type ListboxProps<Value extends string> = {
  /** The accessible name of the list. The button is named by the chosen option. */
  label: string
  options: readonly Option<Value>[]
  value: Value
  onSelect: (value: Value) => void
  className?: string | undefined
}

/** Without scripts, only the chosen option shows. */
export function Listbox<Value extends string>(props: ListboxProps<Value>) {
  const { label, options, value } = props
  const { button, buttonProps, close } = useMenuButton()
  const current = options.find((option) => option.value === value)?.label
  const others = options.filter((option) => option.value !== value)

  const className = classes('control', styles.button, props.className)
  return (
    <>
      {!useHydrated() && <span className={classes(className, styles.still)}>{current}</span>}
      <button {...buttonProps} type="button" className={className} aria-haspopup="listbox">
        {current}
        <Icon shape={ChevronDown} size={18} className={styles.chevron} />
      </button>
      {button && (
        <Lazy chunk={menu} loading={<i data-loading />} onError={close}>
          {(Menu) => (
            <Menu
              role="listbox"
              label={label}
              items={others.map((option) => ({
                label: option.label,
                onSelect: () => props.onSelect(option.value),
              }))}
              button={button}
              onClose={close}
            />
          )}
        </Lazy>
      )}
    </>
  )
}
