import { useEffect, useId, useState } from 'react'
import { CODE_RESEND_SECONDS } from '../../contract/constants.ts'
import type { CallError } from '../api/call.ts'
import { useSecondsLeft } from '../browser/use-seconds-left.ts'
import { CodeEntry } from '../codes/code-entry.tsx'
import { codeLife } from '../codes/code-life.ts'
import { useCodeMail } from '../codes/use-code-mail.ts'
import type { EmailChange } from './email-change.ts'
import styles from './settings.module.css'

type EmailCodeStepProps = {
  change: EmailChange
  busy: boolean
  refusal: CallError | null
  onType: () => void
  onComplete: (code: string) => void
  onResend: () => Promise<void>
  onReturn: () => void
}

/** Asks for the code mailed to the new address. */
export function EmailCodeStep(props: EmailCodeStepProps) {
  const { change, busy, refusal, onType, onComplete, onResend, onReturn } = props
  const [code, setCode] = useState('')
  const tipId = useId()
  // A refused code is of no more use.
  useEffect(() => {
    if (refusal) setCode('')
  }, [refusal])
  const secondsLeft = useSecondsLeft(change.sentAt + CODE_RESEND_SECONDS * 1000)

  return (
    <div className={styles.form}>
      <h2 className={styles.title}>Изменить электронную почту</h2>
      <p className={styles.tip} id={tipId}>
        Отправили код на <b>{change.email}</b>
      </p>
      <CodeEntry
        code={code}
        life={codeLife(refusal?.code)}
        mail={useCodeMail(change.id, change.sentAt)}
        sentAt={change.sentAt}
        secondsLeft={secondsLeft}
        busy={busy}
        error={refusal?.message}
        describedBy={tipId}
        onType={(typed) => {
          onType()
          setCode(typed)
        }}
        onComplete={onComplete}
        onResend={onResend}
        onReturn={onReturn}
      />
    </div>
  )
}
