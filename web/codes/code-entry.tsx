import type { MailState } from '../../contract/codes.ts'
import { CODE_LENGTH, CODE_RESEND_SECONDS } from '../../contract/constants.ts'
import { useSecondsLeft } from '../browser/use-seconds-left.ts'
import { Button } from '../ui/button.tsx'
import type { FieldStatus } from '../ui/field.tsx'
import styles from './code-entry.module.css'
import { CodeInput } from './code-input.tsx'
import { useCodeMail } from './use-code-mail.ts'

/** Shown as long as there is nothing to say about the code itself. */
const MAIL_STATUS: Record<MailState, FieldStatus> = {
  queued: { kind: 'plain', text: 'Письмо в очереди' },
  sent: { kind: 'plain', text: 'Передано почтовому серверу' },
  retrying: { kind: 'plain', text: 'Почта не отвечает, пробуем ещё' },
  refused: { kind: 'bad', text: 'Такого ящика нет: проверьте адрес' },
}

/**
 * Whether a one-time code can still be used. An expired one is replaced by a new one; a locked one cannot be replaced,
 * because the server would mail the same code again and refuse it again.
 */
type CodeLife = 'good' | 'expired' | 'locked'

/** What the error code of a failed attempt says about the one-time code. */
export function codeLife(errorCode: string | undefined): CodeLife {
  if (errorCode === 'OPERATION_EXPIRED') return 'expired'
  return errorCode === 'MAX_CONFIRM_ATTEMPTS' ? 'locked' : 'good'
}

type CodeEntryProps = {
  /** The operation that the code confirms. `sentAt`, in unix milliseconds, changes with every mail. */
  operation: { id: string; sentAt: number }
  code: string
  /** A code is being checked or mailed. */
  busy: boolean
  /** A code is being mailed once more. */
  isResending: boolean
  error: { code: string; message: string } | null
  /** Id of the text that says where the code was mailed. */
  describedBy: string
  /** Stacks the buttons, each as wide as the input. */
  wide?: boolean
  onType: (code: string) => void
  /** Called once the code is full, and when a person tries it again. */
  onComplete: (code: string) => void
  onResend: () => void
  onReturn: () => void
}

/** The step of every flow that takes a mailed code: entering it, mailing it once more, going back. */
export function CodeEntry(props: CodeEntryProps) {
  const { operation, code, busy, error, wide = false, onComplete, onReturn } = props
  const life = codeLife(error?.code)
  const mail = useCodeMail(operation.id, operation.sentAt)
  const isFull = code.length === CODE_LENGTH
  const isChecking = busy && isFull && !props.isResending
  const checking: FieldStatus = { kind: 'busy', text: 'Проверяем код...' }
  return (
    <>
      <CodeInput
        // A new mail mounts a new input, which takes the focus.
        key={operation.sentAt}
        label="Код подтверждения"
        length={CODE_LENGTH}
        value={code}
        readOnly={busy || life !== 'good'}
        error={error?.message}
        status={isChecking ? checking : mail && MAIL_STATUS[mail]}
        describedBy={props.describedBy}
        focusOnMount
        onChange={props.onType}
        onComplete={onComplete}
      />
      <div className={styles.actions} data-wide={wide || undefined}>
        {isFull && !busy && (
          <Button variant="primary" wide={wide} onClick={() => onComplete(code)}>
            Повторить
          </Button>
        )}
        {life !== 'locked' && <ResendCode {...props} life={life} />}
        <Button
          variant={mail === 'refused' ? 'primary' : 'plain'}
          wide={wide}
          disabled={busy}
          onClick={onReturn}
        >
          Вернуться
        </Button>
      </div>
    </>
  )
}

/** Mails the code once more: a minute after the last mail, or at once when the code has expired. */
function ResendCode(props: CodeEntryProps & { life: CodeLife }) {
  const { operation, life, busy, isResending, wide, onResend } = props
  const secondsLeft = useSecondsLeft(operation.sentAt + CODE_RESEND_SECONDS * 1000)
  const isExpired = life === 'expired'
  const isWaiting = secondsLeft > 0 && !isExpired
  return (
    <Button
      variant={isExpired ? 'primary' : 'quiet'}
      wide={wide}
      pending={isResending}
      disabled={busy || isWaiting}
      onClick={onResend}
    >
      {isExpired ? 'Получить новый код' : 'Отправить код ещё раз'}
      {isWaiting && ` через ${secondsLeft} с`}
    </Button>
  )
}
