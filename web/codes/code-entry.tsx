import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { MailState } from '../../contract/codes.ts'
import { CODE_LENGTH, CODE_RESEND_SECONDS } from '../../contract/constants.ts'
import { CallError } from '../http/call-error.ts'
import { useSecondsLeft } from '../platform/use-seconds-left.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { EmailText } from '../ui/form/email-text.tsx'
import type { FieldStatus } from '../ui/form/field.tsx'
import { CodeInput } from './code-input.tsx'
import styles from './codes.module.css'
import { readCodeMail } from './codes.queries.ts'
import { inTime, type MailedCode, useRefusal } from './use-mailed-code.ts'

const MAIL_STATUS: Record<MailState, FieldStatus> = {
  queued: { kind: 'plain', text: 'Отправляем письмо…' },
  sent: { kind: 'plain', text: 'Письмо отправлено' },
  retrying: { kind: 'plain', text: 'Письмо задерживается, пробуем ещё' },
  refused: { kind: 'bad', text: 'Такого ящика нет: проверьте адрес' },
}

/**
 * `locked` means that no attempts are left. The code is replaced only after its operation has
 * ended: until then the server would mail the same code and refuse it again.
 */
type CodeLife = 'good' | 'expired' | 'locked'

/** Returns the state of a code after an error. A refusal with Retry-After means `locked`. */
export function codeLife(error: Error | null): CodeLife {
  if (!(error instanceof CallError) || error.status !== 400) return 'good'
  if (error.code === 'OPERATION_EXPIRED') return 'expired'
  return error.retryAfter === undefined ? 'good' : 'locked'
}

type CodeEntryProps = NonNullable<MailedCode['entry']> & {
  /** The text after the address of the mail. */
  note?: string
}

export function CodeEntry(props: CodeEntryProps) {
  const { operation, code, busy, onReturn } = props
  const { note = 'Если письма нет, проверьте папку «Спам»' } = props
  const tipId = useId()
  const [tried, setTried] = useState('')
  /** The code that the button has sent: the button stays while it is checked, with the focus. */
  const [pressed, setPressed] = useState('')
  const { mail, refusal } = useCodeMail(operation.id, operation.sentAt)
  // While a code is checked, its operation may have ended successfully, which is no error.
  const error = props.error ?? (busy ? null : refusal)
  const { retryAt, message } = useRefusal(error)
  const life = codeLife(error)
  const isFull = code.length === CODE_LENGTH
  const isChecking = busy && isFull && !props.isResending
  const onComplete = (full: string) => {
    setTried(full)
    props.onComplete(full)
  }
  const checking: FieldStatus = { kind: 'busy', text: 'Проверяем код...' }
  return (
    <>
      <p className="tip" id={tipId}>
        Отправили код на{' '}
        <b>
          <EmailText address={operation.email} />
        </b>
        . {note}
      </p>
      <CodeInput
        // A new mail mounts a new input, which takes the focus.
        key={operation.sentAt}
        label="Код подтверждения"
        value={code}
        readOnly={busy || life !== 'good'}
        isLocked={life !== 'good'}
        error={message}
        status={isChecking ? checking : mail && MAIL_STATUS[mail.state]}
        describedBy={tipId}
        onChange={props.onType}
        onComplete={onComplete}
      />
      <div className={classes('wrap', styles.actions)}>
        {isFull && life === 'good' && (!busy || pressed === code) && (
          <Button
            variant="primary"
            pending={busy}
            onClick={() => {
              setPressed(code)
              onComplete(code)
            }}
          >
            {tried === code ? 'Повторить' : 'Продолжить'}
          </Button>
        )}
        <ResendCode {...props} life={life} retryAt={retryAt} />
        <Button
          variant={mail?.state === 'refused' ? 'primary' : 'plain'}
          disabled={busy}
          onClick={onReturn}
        >
          Вернуться
        </Button>
      </div>
    </>
  )
}

function ResendCode(props: CodeEntryProps & { life: CodeLife; retryAt: number }) {
  const { operation, life, retryAt, busy, isResending, onResend } = props
  const isLocked = life === 'locked'
  const mayResendAt = operation.sentAt + CODE_RESEND_SECONDS * 1000
  const secondsLeft = useSecondsLeft(Math.max(mayResendAt, retryAt))
  const isExpired = life === 'expired' || (isLocked && secondsLeft === 0)
  const isWaiting = secondsLeft > 0 && !isExpired
  return (
    <Button
      variant={isExpired ? 'primary' : 'quiet'}
      pending={isResending}
      disabled={busy || isWaiting}
      onClick={onResend}
    >
      {isExpired || isLocked ? 'Получить новый код' : 'Отправить код ещё раз'}
      {isWaiting && inTime(secondsLeft)}
    </Button>
  )
}

const ASK_EVERY_MS = 2500

/** Reads the state every 2.5 s until the mail server has accepted or refused the mail. */
function useCodeMail(id: string, sentAt: number) {
  const { data: mail, error } = useQuery({
    queryKey: ['code-mail', id, sentAt],
    queryFn: ({ signal }) => readCodeMail(id, signal),
    retry: false,
    gcTime: 0,
    refetchInterval: ({ state: { data, error } }) => {
      const isOver = data?.state === 'sent' || data?.state === 'refused'
      const isRefusal = error instanceof CallError && error.status >= 400 && error.status < 500
      return isOver || isRefusal ? false : ASK_EVERY_MS
    },
  })
  return { mail, refusal: codeLife(error) === 'good' ? null : error }
}
