import { CODE_RESEND_SECONDS } from '../../contract/limits.ts'
import { useSecondsLeft } from '../lib/use-seconds-left.ts'
import { Button } from '../ui/button.tsx'
import type { Operation } from './sign-in-flow.ts'

type ResendCodeProps = {
  operation: Operation
  spent: boolean
  disabled: boolean
  onResend: () => Promise<void>
}

/** Sends the code once more: after a minute, or at once when the last one is of no more use. */
export function ResendCode({ operation, spent, disabled, onResend }: ResendCodeProps) {
  const left = useSecondsLeft(operation.sentAt + CODE_RESEND_SECONDS * 1000)
  const waiting = left > 0 && !spent
  return (
    <Button
      variant={spent ? 'primary' : 'quiet'}
      wide
      disabled={disabled || waiting}
      onClick={onResend}
    >
      {spent ? 'Получить новый код' : 'Отправить код ещё раз'}
      {waiting && ` через ${left} с`}
    </Button>
  )
}
