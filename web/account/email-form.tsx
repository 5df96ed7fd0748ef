import { type FormEvent, useId, useState } from 'react'
import type { CurrentUser } from '../../contract/account.ts'
import { CodeEntry } from '../codes/code-entry.tsx'
import { EmailField, useEmailValidation } from '../codes/email-field.tsx'
import type { MailedCode } from '../codes/mailed-code.ts'
import { countingWrongCodes } from '../codes/wrong-codes.ts'
import { call } from '../http/call.ts'
import { clientToken } from '../session/device.ts'
import { changeViewer, useViewer } from '../session/viewer.ts'
import { Button } from '../ui/button.tsx'
import styles from '../ui/form-page.module.css'
import { useToast } from '../ui/toaster.tsx'
import { removeEmailChange, savedEmailChange, saveEmailChange } from './saved-email-change.ts'
import { useAccountMutation } from './use-account-mutation.ts'

export function EmailForm({ onSaved }: { onSaved: () => void }) {
  const viewer = useViewer()
  return viewer.state === 'authorized' && <EmailSteps user={viewer.user} onSaved={onSaved} />
}

function EmailSteps({ user, onSaved }: { user: CurrentUser; onSaved: () => void }) {
  const [change, setChange] = useState(() => savedEmailChange(user.id, Date.now()))
  const [lastEmail, setLastEmail] = useState('')
  const toast = useToast()

  function proceed(started: MailedCode): void {
    saveEmailChange(user.id, started)
    setChange(started)
  }

  if (!change) return <NewEmailStep own={user.email} initial={lastEmail} onStarted={proceed} />
  return (
    <EmailCodeStep
      change={change}
      onRestarted={proceed}
      onSaved={() => {
        removeEmailChange()
        toast({ text: 'Почта изменена' })
        onSaved()
      }}
      onReturn={() => {
        removeEmailChange()
        setLastEmail(change.email)
        setChange(null)
      }}
    />
  )
}

type NewEmailStepProps = {
  own: string
  /** The address the person returned from, to be corrected; empty at first. */
  initial: string
  onStarted: (change: MailedCode) => void
}

function NewEmailStep({ own, initial, onStarted }: NewEmailStepProps) {
  const [typed, setTyped] = useState(initial)
  const tipId = useId()
  const validation = useEmailValidation(typed, own)
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
        Пришлём код на новый адрес. Пока не введёте код, останется прежний. На других устройствах
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

type EmailCodeStepProps = {
  change: MailedCode
  /** The code was mailed once more, as another change. */
  onRestarted: (change: MailedCode) => void
  onSaved: () => void
  onReturn: () => void
}

function EmailCodeStep({ change, onRestarted, onSaved, onReturn }: EmailCodeStepProps) {
  const [code, setCode] = useState('')
  const tipId = useId()
  // A refused code cannot be used again.
  const onRefused = () => setCode('')
  const verify = useAccountMutation({
    mutationFn: (typed: string) =>
      countingWrongCodes(change, () => verifyEmailChange(change, typed)),
    onSuccess: onSaved,
    onRefused,
  })
  const resend = useAccountMutation({
    mutationFn: startEmailChange,
    onSuccess: onRestarted,
    onRefused,
  })

  return (
    <div className={styles.form}>
      <h2 className={styles.title}>Изменить электронную почту</h2>
      <p className={styles.tip} id={tipId}>
        Отправили код на <b>{change.email}</b>. Если письма нет, проверьте папку «Спам»
      </p>
      <CodeEntry
        operation={change}
        code={code}
        busy={verify.isPending || resend.isPending}
        isResending={resend.isPending}
        error={verify.refusal ?? resend.refusal}
        describedBy={tipId}
        onType={(typed) => {
          verify.clearError()
          resend.clearError()
          setCode(typed)
        }}
        onComplete={(full) => {
          resend.clearError()
          verify.mutate(full)
        }}
        onResend={() => {
          verify.clearError()
          resend.mutate(change.email)
        }}
        onReturn={onReturn}
      />
    </div>
  )
}

async function startEmailChange(email: string): Promise<MailedCode> {
  const body = { email, clientToken: await clientToken() }
  const { id } = await call('PUT /users/current/email', { body })
  return { id, email, sentAt: Date.now() }
}

async function verifyEmailChange(change: MailedCode, confirmCode: string): Promise<void> {
  const body = { confirmCode, clientToken: await clientToken() }
  const params = { id: change.id }
  changeViewer(await call('PUT /users/current/email/:id/verify', { params, body }))
}
