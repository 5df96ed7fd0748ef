import { type FormEvent, useId, useState } from 'react'
import { EMAIL_MAX } from '../../contract/constants.ts'
import type { CallError } from '../api/call.ts'
import { useEmailComplaint } from '../codes/use-email-validation.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/text-field.tsx'
import styles from './settings.module.css'

type NewEmailStepProps = {
  /** The address of a change that was given up, to be mended; empty at first. */
  initial: string
  busy: boolean
  refusal: CallError | null
  onType: () => void
  onSubmit: (email: string) => void
}

/** Asks for the new address. */
export function NewEmailStep({ initial, busy, refusal, onType, onSubmit }: NewEmailStepProps) {
  const [typed, setTyped] = useState(initial)
  const tipId = useId()
  const { complaint, shownComplaint, judging } = useEmailComplaint(typed)
  const allowed = !complaint && !refusal

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (allowed) onSubmit(typed.trim())
  }

  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <h2 className={styles.title}>Изменить электронную почту</h2>
      <p className={styles.tip} id={tipId}>
        Пришлём код на новый адрес. До подтверждения останется прежний. На других устройствах
        придётся войти заново
      </p>
      <TextField
        label="Электронная почта"
        type="email"
        autoComplete="email"
        inputMode="email"
        maxLength={EMAIL_MAX}
        spellCheck={false}
        describedBy={tipId}
        focusOnMount
        value={typed}
        readOnly={busy}
        error={refusal?.message ?? shownComplaint}
        onChange={(text) => {
          onType()
          setTyped(text)
        }}
        {...judging}
      />
      <div className={styles.actions}>
        <Button type="submit" variant="primary" pending={busy} disabled={!allowed}>
          Продолжить
        </Button>
      </div>
    </form>
  )
}
