import { type FormEvent, useState } from 'react'
import { isEmail } from '../../contract/email.ts'
import { EMAIL_MAX } from '../../contract/limits.ts'
import { settings } from '../lib/settings.ts'
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
  const [left, setLeft] = useState(false)
  const complaint = emailComplaint(email)
  // While a person still types, what is unfinished is not yet wrong.
  const error = problem?.message ?? (left ? complaint : undefined)

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (!complaint) onSubmit()
  }

  return (
    <AuthShell
      appName={settings().appName}
      tip="Войдите или зарегистрируйтесь: пришлём код на почту, пароль не нужен"
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
          focusOnMount
          value={email}
          readOnly={busy}
          error={error}
          onChange={onEmail}
          onBlur={() => setLeft(email !== '' || left)}
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

function emailComplaint(email: string): string | undefined {
  if (email.trim() === '') return 'Введите email'
  return isEmail(email.trim()) ? undefined : 'Введите корректный email'
}
