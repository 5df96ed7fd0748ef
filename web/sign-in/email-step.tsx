import { type FormEvent, useId } from 'react'
import { settings } from '../browser/page-settings.ts'
import { EmailField, useEmailValidation } from '../codes/email-field.tsx'
import { Button } from '../ui/button.tsx'
import { AuthShell } from './auth-shell.tsx'
import type { Problem } from './sign-in-flow.ts'
import styles from './steps.module.css'

type EmailStepProps = {
  email: string
  busy: boolean
  problem: Problem | null
  onType: (email: string) => void
  onSubmit: () => void
}

/** Asks for the address to mail a code to. */
export function EmailStep({ email, busy, problem, onType, onSubmit }: EmailStepProps) {
  const tipId = useId()
  const validation = useEmailValidation(email)

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (!validation.error) onSubmit()
  }

  return (
    <AuthShell
      appName={settings().appName}
      tip="Войдите или зарегистрируйтесь: пришлём код на почту, пароль не нужен"
      tipId={tipId}
    >
      <form className={styles.form} onSubmit={submit} noValidate>
        <EmailField
          value={email}
          validation={validation}
          serverError={problem?.message}
          describedBy={tipId}
          readOnly={busy}
          required
          onChange={onType}
        />
        <Button
          type="submit"
          variant="primary"
          wide
          pending={busy}
          disabled={validation.error !== undefined}
        >
          Продолжить
        </Button>
      </form>
    </AuthShell>
  )
}
