import type { ClipboardEvent, KeyboardEvent, SyntheticEvent } from 'react'
import { CODE_LENGTH } from '../../contract/constants.ts'
import { Field, type FieldNotes, useFocusOnMount } from '../ui/form/field.tsx'
import styles from './codes.module.css'
import { type EnteredCode, enterCode, pasteCode } from './pasted.ts'

type CodeInputProps = Omit<FieldNotes, 'hint'> & {
  value: string
  onChange: (code: string) => void
  /** Called once for each code that becomes full, after onChange, and by Enter. */
  onComplete: (code: string) => void
  readOnly?: boolean | undefined
  isLocked?: boolean
}

/** Draws one real input as cells, so that autofill, paste and screen readers work. */
export function CodeInput(props: CodeInputProps) {
  const { label, error, status, describedBy, value, readOnly, isLocked = false } = props
  const ref = useFocusOnMount<HTMLInputElement>()

  function change({ code, isGuess }: EnteredCode): void {
    if (readOnly || code === value) return
    props.onChange(code)
    if (code.length === CODE_LENGTH && !isGuess) props.onComplete(code)
  }

  function paste(event: ClipboardEvent<HTMLInputElement>): void {
    // By default the input would truncate or append, but «123 456» must replace a wrong code.
    event.preventDefault()
    change(pasteCode(value, event.clipboardData.getData('text')))
  }

  /** Sends a code that was not sent automatically, or did not reach the server. */
  function submit({ key }: KeyboardEvent): void {
    if (key === 'Enter' && !readOnly && value.length === CODE_LENGTH) props.onComplete(value)
  }

  return (
    <Field label={label} error={error} status={status} describedBy={describedBy}>
      {(aria) => (
        <div className={styles.code} data-locked={isLocked || undefined}>
          <Cells code={value} invalid={Boolean(error)} />
          <input
            {...aria}
            ref={ref}
            className={styles.input}
            value={value}
            readOnly={readOnly}
            inputMode="numeric"
            autoComplete="one-time-code"
            pattern="[0-9]*"
            spellCheck={false}
            onChange={(event) => change(enterCode(value, event.target.value))}
            onPaste={paste}
            onKeyDown={submit}
            onSelect={keepCaretAtEnd}
          />
        </div>
      )}
    </Field>
  )
}

function Cells({ code, invalid }: { code: string; invalid: boolean }) {
  const active = Math.min(code.length, CODE_LENGTH - 1)
  return (
    <div className={styles.cells} aria-hidden="true">
      {Array.from({ length: CODE_LENGTH }, (_, index) => index).map((index) => (
        <span
          key={index}
          className={styles.cell}
          data-active={index === active || undefined}
          data-invalid={invalid || undefined}
        >
          {code[index] ?? ''}
        </span>
      ))}
    </div>
  )
}

/** Keeps the real, invisible caret after the last digit, where the drawn caret is. */
function keepCaretAtEnd(event: SyntheticEvent<HTMLInputElement>): void {
  const input = event.currentTarget
  const end = input.value.length
  if (input.selectionStart === input.selectionEnd && input.selectionStart !== end) {
    input.setSelectionRange(end, end)
  }
}
