import { type FormEvent, useId, useState } from 'react'
import { EmailField, useEmailValidation } from '../codes/email-field.tsx'
import { Button } from '../ui/button.tsx'
import { type EmailChange, startEmailChange } from './email-change.ts'
import styles from './settings.module.css'
import { useAccountMutation } from './use-account-mutation.ts'

type NewEmailStepProps = {
  /** The address the person returned from, to be corrected; empty at first. */
  initial: string
  onStarted: (change: EmailChange) => void
}

/** Asks for the new address and has a code mailed to it. */
export function NewEmailStep({ initial, onStarted }: NewEmailStepProps) {
  const [typed, setTyped] = useState(initial)
  const tipId = useId()
  const validation = useEmailValidation(typed)
  const start = useAccountMutation({ mutationFn: startEmailChange, onSuccess: onStarted })
  const isAllowed = !validation.error && !start.refusal

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (isAllowed) start.mutate(typed.trim())
  }

  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <h2 className={styles.title}>Изменить электронную почту</h2>
      <p className={styles.tip} id={tipId}>
        Пришлём код на новый адрес. До подтверждения останется прежний. На других устройствах
        придётся войти заново
      </p>
      <EmailField
        value={typed}
        validation={validation}
        serverError={start.refusal?.message}
        describedBy={tipId}
        readOnly={start.isPending}
        onChange={(text) => {
          start.clearError()
          setTyped(text)
        }}
      />
      <div className={styles.actions}>
        <Button type="submit" variant="primary" pending={start.isPending} disabled={!isAllowed}>
          Продолжить
        </Button>
      </div>
    </form>
  )
}
