import { type ComponentProps, useRef } from 'react'
import { Field, type FieldNotes } from './field.tsx'
import styles from './text-field.module.css'
import { useFocusOnMount } from './use-focus-on-mount.ts'

type TextFieldProps = FieldNotes &
  Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'id' | 'className' | 'autoFocus'> & {
    value: string
    onChange: (value: string) => void
    focusOnMount?: boolean
  }

/** One line of text with its label, hint, error and status. */
export function TextField(props: TextFieldProps) {
  const { label, hint, error, status, describedBy, onChange, focusOnMount = false, ...rest } = props
  const ref = useRef<HTMLInputElement>(null)
  useFocusOnMount(ref, focusOnMount)
  return (
    <Field label={label} hint={hint} error={error} status={status} describedBy={describedBy}>
      {(aria) => (
        <input
          {...rest}
          {...aria}
          ref={ref}
          className={styles.input}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
