import { useQuery } from '@tanstack/react-query'
import type { CodeMail, MailState } from '../../contract/codes.ts'
import { CODE_LENGTH, CODE_RESEND_SECONDS } from '../../contract/constants.ts'
import { call } from '../api/call.ts'
import { CallError } from '../api/call-error.ts'
import { clientToken } from '../api/device.ts'
import { worthRetrying } from '../api/query-client.ts'
import { serverNow } from '../api/server-clock.ts'
import { useSecondsLeft } from '../browser/use-seconds-left.ts'
import { plural } from '../format/counts.ts'
import { countdown } from '../format/time.ts'
import { Button } from '../ui/button.tsx'
import type { FieldStatus } from '../ui/field.tsx'
import styles from './code-entry.module.css'
import { CodeInput } from './code-input.tsx'
import type { MailedCode } from './mailed-code.ts'
import { latestEnd, triesLeft } from './wrong-codes.ts'

/** Shown as long as there is nothing to say about the code itself. */
const MAIL_STATUS: Record<MailState, FieldStatus> = {
  queued: { kind: 'plain', text: 'Отправляем письмо…' },
  sent: { kind: 'plain', text: 'Письмо отправлено' },
  retrying: { kind: 'plain', text: 'Почта не отвечает, пробуем ещё' },
  refused: { kind: 'bad', text: 'Такого ящика нет: проверьте адрес' },
}

/**
 * Whether a one-time code can still be used. An expired one is replaced by a new one; a locked one only once its operation
 * has ended, because until then the server would mail the same code again and refuse it again.
 */
type CodeLife = 'good' | 'expired' | 'locked'

/** What the error code of a failed attempt says about the one-time code; `left` is how many attempts remain, if known. */
export function codeLife(errorCode: string | undefined, left?: number): CodeLife {
  if (errorCode === 'OPERATION_EXPIRED') return 'expired'
  return errorCode === 'MAX_CONFIRM_ATTEMPTS' || left === 0 ? 'locked' : 'good'
}

/** Without the wait that the server's message names: the button counts it down. */
const LOCKED = 'Слишком много неверных кодов'

/** The error of a failed attempt in words, with how many attempts are left; also after a reload, when none is. */
export function codeError(error: CodeEntryProps['error'], left?: number): string | undefined {
  const isAboutCode = !error || error.code === 'INVALID_CONFIRM_CODE'
  if (error?.code === 'MAX_CONFIRM_ATTEMPTS' || (isAboutCode && left === 0)) return LOCKED
  if (!error || !isAboutCode || left === undefined) return error?.message
  return `${error.message}. ${plural(left, LEFT)} ${left} ${plural(left, TRIES)}`
}

const LEFT = { one: 'Осталась', few: 'Осталось', many: 'Осталось' }
const TRIES = { one: 'попытка', few: 'попытки', many: 'попыток' }

export type CodeEntryProps = {
  operation: MailedCode
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
  const { operation, code, busy, wide = false, onComplete, onReturn } = props
  const { mail, refusal } = useCodeMail(operation.id, operation.sentAt)
  // While a code is checked, its operation may just have been used.
  const error = props.error ?? (busy ? null : refusal)
  const left = triesLeft(operation.id)
  const life = codeLife(error?.code, left)
  const isFull = code.length === CODE_LENGTH
  const isChecking = busy && isFull && !props.isResending
  const checking: FieldStatus = { kind: 'busy', text: 'Проверяем код...' }
  return (
    <>
      <CodeInput
        // A new mail mounts a new input, which takes the focus.
        key={operation.sentAt}
        label="Код подтверждения"
        value={code}
        readOnly={busy || life !== 'good'}
        isLocked={life !== 'good'}
        error={codeError(error, left)}
        status={isChecking ? checking : mail && MAIL_STATUS[mail.state]}
        describedBy={props.describedBy}
        onChange={props.onType}
        onComplete={onComplete}
      />
      <div className={styles.actions} data-wide={wide || undefined}>
        {isFull && !busy && life === 'good' && (
          <Button variant="primary" wide={wide} onClick={() => onComplete(code)}>
            Повторить
          </Button>
        )}
        <ResendCode {...props} life={life} mail={mail} />
        <Button
          variant={mail?.state === 'refused' ? 'primary' : 'plain'}
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

/** Mails the code once more: a minute after the last mail; a new one when the code has expired, or once a locked one has. */
function ResendCode(props: CodeEntryProps & { life: CodeLife; mail: KnownMail | undefined }) {
  const { operation, life, mail, busy, isResending, wide, onResend } = props
  const isLocked = life === 'locked'
  const secondsLeft = useSecondsLeft(
    isLocked
      ? (mail?.endsAt ?? latestEnd(operation))
      : operation.sentAt + CODE_RESEND_SECONDS * 1000,
  )
  const isExpired = life === 'expired' || (isLocked && secondsLeft === 0)
  const isWaiting = secondsLeft > 0 && !isExpired
  return (
    <Button
      variant={isExpired ? 'primary' : 'quiet'}
      wide={wide}
      pending={isResending}
      disabled={busy || isWaiting}
      onClick={onResend}
    >
      {isExpired || isLocked ? 'Получить новый код' : 'Отправить код ещё раз'}
      {isWaiting && ` через ${isLocked ? countdown(secondsLeft) : `${secondsLeft} с`}`}
    </Button>
  )
}

const ASK_EVERY_MS = 2500

/** What the server has said of a mail, and when its operation ends by this device's clock, in unix milliseconds. */
type KnownMail = { state: MailState; endsAt: number }

/**
 * What has become of the mail that was queued at `sentAt` with the code of an operation, read every 2.5 s until the mail server
 * has accepted or refused it: undefined before the first answer. `refusal` says that the operation has ended.
 */
function useCodeMail(id: string, sentAt: number) {
  const { data: mail, error } = useQuery({
    queryKey: ['code-mail', id, sentAt],
    queryFn: async ({ signal }) => {
      const body = { clientToken: await clientToken() }
      return onOwnClock(await call('POST /codes/:id/mail', { params: { id }, body }, { signal }))
    },
    retry: false,
    gcTime: 0,
    refetchInterval: ({ state: { data, error } }) => {
      const isOver = data?.state === 'sent' || data?.state === 'refused'
      return isOver || (error && !worthRetrying(0, error)) ? false : ASK_EVERY_MS
    },
  })
  const hasEnded = error instanceof CallError && error.code === 'OPERATION_EXPIRED'
  return { mail, refusal: hasEnded ? error : null }
}

function onOwnClock({ state, expiresAt }: CodeMail): KnownMail {
  return { state, endsAt: Date.now() + (expiresAt - serverNow()) * 1000 }
}
