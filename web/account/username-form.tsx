import { type FormEvent, useState } from 'react'
import type { CurrentUser } from '../../contract/account.ts'
import { USERNAME_MAX, USERNAME_MIN } from '../../contract/constants.ts'
import { call } from '../api/call.ts'
import { Button } from '../ui/button.tsx'
import type { FieldStatus } from '../ui/field.tsx'
import { TextField } from '../ui/text-field.tsx'
import { changeViewer } from '../viewer/viewer.ts'
import styles from './settings.module.css'
import { useAttempt } from './use-attempt.ts'
import { useUsernameCheck } from './use-username-check.ts'
import { maySave, type UsernameCheck } from './username-check.ts'

type UsernameFormProps = { own: string; onSaved: (user: CurrentUser) => void }

/** Takes another username, checked while it is typed. */
export function UsernameForm({ own, onSaved }: UsernameFormProps) {
  const [username, setUsername] = useState(own)
  const { busy, refusal, clearRefusal, run } = useAttempt()
  const check = useUsernameCheck(username, own)
  const allowed = !refusal && maySave(check)

  function type(typed: string): void {
    clearRefusal()
    setUsername(typed.trim())
  }

  function save(event: FormEvent): void {
    event.preventDefault()
    if (!allowed) return
    void run(async () => {
      const user = await call('PATCH /users/current/profile', { body: { username } })
      changeViewer(user)
      onSaved(user)
    })
  }

  return (
    <form className={styles.form} onSubmit={save} noValidate>
      <h2 className={styles.title}>Задать имя пользователя</h2>
      <TextField
        label="Имя пользователя"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        focusOnMount
        value={username}
        readOnly={busy}
        hint={`Латинские буквы, цифры и знак подчёркивания, от ${USERNAME_MIN} до ${USERNAME_MAX} символов`}
        error={refusal?.message ?? complaintOf(check)}
        status={statusOf(check)}
        onChange={type}
      />
      <div className={styles.actions}>
        <Button type="submit" variant="primary" pending={busy} disabled={!allowed}>
          Сохранить
        </Button>
      </div>
    </form>
  )
}

function complaintOf(check: UsernameCheck): string | undefined {
  return 'message' in check ? check.message : undefined
}

function statusOf({ state }: UsernameCheck): FieldStatus | undefined {
  if (state === 'checking') return { kind: 'busy', text: 'Проверка имени пользователя...' }
  return state === 'verified' ? { kind: 'ok', text: 'Имя пользователя свободно' } : undefined
}
