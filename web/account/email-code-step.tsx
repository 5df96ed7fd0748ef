import { useEffect, useState } from 'react'
import { CODE_LENGTH, CODE_RESEND_SECONDS } from '../../contract/limits.ts'
import type { CallError } from '../lib/call.ts'
import { useSecondsLeft } from '../lib/use-seconds-left.ts'
import { Button } from '../ui/button.tsx'
import { CodeInput } from '../ui/code-input.tsx'
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

/** Asks for the code mailed to the new address; a full one is sent at once. */
export function EmailCodeStep(props: EmailCodeStepProps) {
  const { change, busy, refusal, onType, onComplete, onResend, onReturn } = props
  const [code, setCode] = useState('')
  // A refused code is of no more use.
  useEffect(() => {
    if (refusal) setCode('')
  }, [refusal])
  const left = useSecondsLeft(change.sentAt + CODE_RESEND_SECONDS * 1000)
  const expired = refusal?.code === 'OPERATION_EXPIRED'
  // The same code would come once more, and be refused once more.
  const locked = refusal?.code === 'MAX_CONFIRM_ATTEMPTS'
  const waiting = left > 0 && !expired
  const full = code.length === CODE_LENGTH

  return (
    <div className={styles.form}>
      <h2 className={styles.title}>Изменить электронную почту</h2>
      <p className={styles.tip}>
        Отправили код на <b>{change.email}</b>
      </p>
      <CodeInput
        label="Код подтверждения"
        length={CODE_LENGTH}
        value={code}
        readOnly={busy || expired || locked}
        error={refusal?.message}
        status={busy && full ? { kind: 'busy', text: 'Проверяем код...' } : undefined}
        focusOnMount
        onChange={(typed) => {
          onType()
          setCode(typed)
        }}
        onComplete={onComplete}
      />
      <div className={styles.actions}>
        {full && !busy && (
          <Button variant="primary" onClick={() => onComplete(code)}>
            Повторить
          </Button>
        )}
        {!locked && (
          <Button
            variant={expired ? 'primary' : 'quiet'}
            disabled={busy || waiting}
            onClick={onResend}
          >
            {expired ? 'Получить новый код' : 'Отправить код ещё раз'}
            {waiting && ` через ${left} с`}
          </Button>
        )}
        <Button variant="plain" disabled={busy} onClick={onReturn}>
          Вернуться
        </Button>
      </div>
    </div>
  )
}
