import type { MailState } from '../../contract/codes.ts'
import { CODE_LENGTH } from '../../contract/constants.ts'
import { Button } from '../ui/button.tsx'
import type { FieldStatus } from '../ui/field.tsx'
import styles from './code-entry.module.css'
import { CodeInput } from './code-input.tsx'
import type { CodeLife } from './code-life.ts'

/** What is said of the mail while there is nothing to say of the code. */
const MAIL_STATUS: Record<MailState, FieldStatus> = {
  queued: { kind: 'plain', text: 'Письмо в очереди' },
  sent: { kind: 'plain', text: 'Передано почтовому серверу' },
  retrying: { kind: 'plain', text: 'Почта не отвечает, пробуем ещё' },
  refused: { kind: 'bad', text: 'Такого ящика нет: проверьте адрес' },
}

type CodeEntryProps = {
  /** What has become of the mail; undefined until that is known. */
  mail: MailState | undefined
  code: string
  life: CodeLife
  /** Tells one mailed code from the next: with a new one the focus is back on the input. */
  sentAt: number
  /** Until the code may be sent once more. */
  secondsLeft: number
  busy: boolean
  error: string | undefined
  /** Id of the words that say where the code went. */
  describedBy: string
  /** One button below another, each as wide as the input. */
  wide?: boolean
  onType: (code: string) => void
  onComplete: (code: string) => void
  onResend: () => Promise<void>
  onReturn: () => void
}

/** Takes a mailed code, which is sent at once when it is full; or sends it anew, or goes back. */
export function CodeEntry(props: CodeEntryProps) {
  const { code, life, mail, busy, wide = false, onComplete, onReturn } = props
  const full = code.length === CODE_LENGTH
  const checking: FieldStatus = { kind: 'busy', text: 'Проверяем код...' }
  return (
    <>
      <CodeInput
        key={props.sentAt}
        label="Код подтверждения"
        length={CODE_LENGTH}
        value={code}
        readOnly={busy || life !== 'good'}
        error={props.error}
        status={busy && full ? checking : mail && MAIL_STATUS[mail]}
        describedBy={props.describedBy}
        focusOnMount
        onChange={props.onType}
        onComplete={onComplete}
      />
      <div className={styles.actions} data-wide={wide || undefined}>
        {full && !busy && (
          <Button variant="primary" wide={wide} onClick={() => onComplete(code)}>
            Повторить
          </Button>
        )}
        {life !== 'locked' && <ResendCode {...props} />}
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

/** Sends the code once more: after a minute, or at once when the last one is of no more use. */
function ResendCode({ life, secondsLeft, busy, wide, onResend }: CodeEntryProps) {
  const expired = life === 'expired'
  const waiting = secondsLeft > 0 && !expired
  return (
    <Button
      variant={expired ? 'primary' : 'quiet'}
      wide={wide}
      disabled={busy || waiting}
      onClick={onResend}
    >
      {expired ? 'Получить новый код' : 'Отправить код ещё раз'}
      {waiting && ` через ${secondsLeft} с`}
    </Button>
  )
}
