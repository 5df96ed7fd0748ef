import { useId, useState } from 'react'
import { CodeEntry } from '../codes/code-entry.tsx'
import { type EmailChange, startEmailChange, verifyEmailChange } from './email-change.ts'
import styles from './settings.module.css'
import { useAccountMutation } from './use-account-mutation.ts'

type EmailCodeStepProps = {
  change: EmailChange
  /** The code was mailed once more, as another change. */
  onRestarted: (change: EmailChange) => void
  onSaved: () => void
  onReturn: () => void
}

/** Asks for the code mailed to the new address. */
export function EmailCodeStep({ change, onRestarted, onSaved, onReturn }: EmailCodeStepProps) {
  const [code, setCode] = useState('')
  const tipId = useId()
  // A refused code cannot be used again.
  const onRefused = () => setCode('')
  const verify = useAccountMutation({
    mutationFn: (typed: string) => verifyEmailChange(change, typed),
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
        Отправили код на <b>{change.email}</b>
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
