import { type FormEvent, useId } from 'react'
import { EMAIL_MAX } from '../../contract/constants.ts'
import { settings } from '../browser/page-settings.ts'
import { useEmailComplaint } from '../codes/use-email-validation.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/text-field.tsx'
import { AuthShell } from './auth-shell.tsx'
import type { Problem } from './sign-in-flow.ts'
import styles from './steps.module.css'

type EmailStepProps = {
  email: string
  busy: boolean
  problem: Problem | null
  onEmail: (email: string) => void
  onSubmit: () => void
}

/** Asks for the address a code will go to. */
export function EmailStep({ email, busy, problem, onEmail, onSubmit }: EmailStepProps) {
  const tipId = useId()
  const { complaint, shownComplaint, judging } = useEmailComplaint(email)

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (!complaint) onSubmit()
  }

  return (
    <AuthShell
      appName={settings().appName}
      tip="Войдите или зарегистрируйтесь: пришлём код на почту, пароль не нужен"
      tipId={tipId}
    >
      <form className={styles.form} onSubmit={submit} noValidate>
        <TextField
          label="Электронная почта"
          type="email"
          autoComplete="email"
          inputMode="email"
          maxLength={EMAIL_MAX}
          spellCheck={false}
          required
          describedBy={tipId}
          focusOnMount
          value={email}
          readOnly={busy}
          error={problem?.message ?? shownComplaint}
          onChange={onEmail}
          {...judging}
        />
        <Button
          type="submit"
          variant="primary"
          wide
          pending={busy}
          disabled={complaint !== undefined}
        >
          Продолжить
        </Button>
      </form>
    </AuthShell>
  )
}
