import type { FormEvent } from 'react'
import type { CurrentUser } from '../../contract/account.ts'
import { hasRefusedCharacter, isGeneratedName } from '../../contract/account-rules.ts'
import { USERNAME_MAX, USERNAME_MIN } from '../../contract/constants.ts'
import { withoutUnseen } from '../codes/pasted.ts'
import { CallError } from '../http/call-error.ts'
import { errorMessage } from '../http/error-message.ts'
import { renameOwner } from '../posts/cache/post-cache.ts'
import { SessionEnded, useTyped } from '../session/session-ended.tsx'
import { useAction } from '../session/use-action.tsx'
import { changeViewer, useSessionEnd } from '../session/viewer.ts'
import { Button } from '../ui/button.tsx'
import { type FieldStatus, TextField } from '../ui/form/field.tsx'
import styles from '../ui/form/form.module.css'
import { toast } from '../ui/overlay/toaster.tsx'
import { saveUsername } from './account.queries.ts'
import { useReturnToSettings } from './account-settings.tsx'
import { maySave, type UsernameCheck, useUsernameCheck } from './username-check.ts'

export function UsernameForm({ user: { username: own } }: { user: CurrentUser }) {
  const leave = useReturnToSettings()
  const [typed, setTyped] = useTyped('username', own)
  const username = withoutUnseen(typed)
  const saving = useAction({
    mutationFn: saveUsername,
    onSuccess: (user) => {
      changeViewer(user)
      toast({ text: 'Имя сохранено' })
      renameOwner(user)
      leave()
    },
  })
  const isRefusedAtAnyLength = hasRefusedCharacter(username)
  const hasEnded = useSessionEnd() !== undefined
  const check = useUsernameCheck(username, own)
  const { error } = saving
  const problem = error ? errorMessage(error) : check.message
  // saveUsername() retries after a short limit, so a 429 here is a long one.
  const isRefused = error instanceof CallError && [400, 429].includes(error.status)
  const isAllowed = !isRefused && maySave(check)

  function type(text: string): void {
    saving.clearError()
    setTyped(text)
  }

  function save(event: FormEvent): void {
    event.preventDefault()
    if (isAllowed) saving.mutate(username)
  }

  return (
    <form className={styles.form} onSubmit={save} noValidate>
      <h2 className="heading">Задать имя пользователя</h2>
      <TextField
        label="Имя пользователя"
        autoComplete="username"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        focusOnMount
        // Selects a generated name, because typing should replace all of it.
        onFocus={({ target }) => isGeneratedName(username) && target.select()}
        value={typed}
        readOnly={saving.isPending}
        // The error may be that the name is too short, although a longer one would be refused too.
        hint={rule(isRefusedAtAnyLength ? 'Нужны латинские' : 'Латинские')}
        isHintBroken={isRefusedAtAnyLength}
        {...(!hasEnded && { error: problem, status: statusOf(check) })}
        onChange={type}
        cleanPaste={withoutUnseen}
      />
      <SessionEnded text={username} />
      <div className="wrap">
        <Button type="submit" variant="primary" pending={saving.isPending} disabled={!isAllowed}>
          Сохранить
        </Button>
      </div>
    </form>
  )
}

const rule = (letters: string) =>
  `${letters} буквы, цифры и знак подчёркивания, от ${USERNAME_MIN} до ${USERNAME_MAX} символов`

function statusOf({ state }: UsernameCheck): FieldStatus | undefined {
  if (state === 'checking') return { kind: 'busy', text: 'Проверка имени пользователя...' }
  return state === 'verified' ? { kind: 'ok', text: 'Имя пользователя свободно' } : undefined
}
