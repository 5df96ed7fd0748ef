import { useQuery } from '@tanstack/react-query'
import type { CodeMail, MailState } from '../../contract/codes.ts'
import { CODE_ATTEMPTS, CODE_LENGTH, CODE_RESEND_SECONDS } from '../../contract/constants.ts'
import { plural } from '../format/counts.ts'
import { countdown } from '../format/time.ts'
import { call } from '../http/call.ts'
import { CallError } from '../http/call-error.ts'
import { errorMessage } from '../http/error-message.ts'
import { worthRetrying } from '../http/query-client.ts'
import { useSecondsLeft } from '../platform/use-seconds-left.ts'
import { clientToken } from '../session/client-token.ts'
import { serverNow } from '../session/server-clock.ts'
import { Button } from '../ui/button.tsx'
import type { FieldStatus } from '../ui/field.tsx'
import styles from './code-entry.module.css'
import { CodeInput } from './code-input.tsx'
import { latestEnd, type Operation } from './saved-operation.ts'
import type { MailedCode } from './use-mailed-code.ts'

const MAIL_STATUS: Record<MailState, FieldStatus> = {
  queued: { kind: 'plain', text: 'Отправляем письмо…' },
  sent: { kind: 'plain', text: 'Письмо отправлено' },
  retrying: { kind: 'plain', text: 'Почта не отвечает, пробуем ещё' },
  refused: { kind: 'bad', text: 'Такого ящика нет: проверьте адрес' },
}

/**
 * A locked code is replaced only after its operation has ended: until then the server would mail
 * the same code and refuse it again.
 */
type CodeLife = 'good' | 'expired' | 'locked'

export function codeLife(errorCode: string | undefined, left?: number): CodeLife {
  if (errorCode === 'OPERATION_EXPIRED') return 'expired'
  return errorCode === 'MAX_CONFIRM_ATTEMPTS' || left === 0 ? 'locked' : 'good'
}

/** The server's message also names the wait, which the button counts down. */
const LOCKED = 'Слишком много неверных кодов'

/** After a reload there is no error, but the number of tries left still shows. */
export function codeError(error: ShownError | null, left?: number): string | undefined {
  const isAboutCode = !error || error.code === 'INVALID_CONFIRM_CODE'
  if (error?.code === 'MAX_CONFIRM_ATTEMPTS' || (isAboutCode && left === 0)) return LOCKED
  if (!error || !isAboutCode || left === undefined) return error?.message
  return `Неверный код. ${plural(left, LEFT)} ${left} ${plural(left, TRIES)}`
}

const LEFT = { one: 'Осталась', few: 'Осталось', many: 'Осталось' }
const TRIES = { one: 'попытка', few: 'попытки', many: 'попыток' }

type ShownError = { code: string; message: string }

type CodeEntryProps = NonNullable<MailedCode['entry']> & { describedBy: string; wide?: boolean }

/** The step of every flow that takes a mailed code. */
export function CodeEntry(props: CodeEntryProps) {
  const { operation, code, busy, wide = false, onComplete, onReturn } = props
  const { mail, refusal } = useCodeMail(operation.id, operation.sentAt)
  // While a code is checked, its operation may just have been used.
  const error = shownError(props.error ?? (busy ? null : refusal))
  const left = triesLeft(operation)
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

function shownError(error: Error | null): ShownError | null {
  if (!error) return null
  return { code: error instanceof CallError ? error.code : '', message: errorMessage(error) }
}

function triesLeft({ wrongCodes }: Operation): number | undefined {
  return wrongCodes && Math.max(0, CODE_ATTEMPTS - wrongCodes)
}

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

type KnownMail = { state: MailState; endsAt: number }

/** Reads the state every 2.5 s until the mail server has accepted or refused the mail. */
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
