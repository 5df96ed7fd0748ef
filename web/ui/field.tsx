import { type ReactNode, useId } from 'react'
import styles from './field.module.css'
import { Spinner } from './spinner.tsx'

export type FieldStatus = { kind: 'ok' | 'busy' | 'plain' | 'bad'; text: string }

export type FieldNotes = {
  label: string
  hint?: string | undefined
  /** Shown under the input and announced; it replaces the hint and the status. */
  error?: string | undefined
  status?: FieldStatus | undefined
  /** Id of an element elsewhere that also describes the input. */
  describedBy?: string | undefined
}

type FieldAria = {
  id: string
  'aria-invalid': true | undefined
  'aria-describedby': string
}

type FieldProps = FieldNotes & { children: (aria: FieldAria) => ReactNode }

/** A label above an input and one line of notes below; the line has its height even when empty, so that an error moves nothing. */
export function Field({ label, hint, error, status, describedBy, children }: FieldProps) {
  const id = useId()
  const notesId = `${id}-notes`
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        'aria-invalid': error ? true : undefined,
        'aria-describedby': describedBy ? `${describedBy} ${notesId}` : notesId,
      })}
      <div className={styles.notes} id={notesId}>
        {error && (
          <p className={styles.error} role="alert">
            {error}
          </p>
        )}
        <p role="status" className={styles.status} data-kind={status?.kind}>
          {!error && status && <StatusText {...status} />}
        </p>
        {!error && !status && hint && <p>{hint}</p>}
      </div>
    </div>
  )
}

function StatusText({ kind, text }: FieldStatus) {
  return (
    <>
      {kind === 'busy' && <Spinner size={12} />}
      {text}
    </>
  )
}
