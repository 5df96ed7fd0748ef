import { useId } from 'react'
import { CODE_RESEND_SECONDS } from '../../contract/constants.ts'
import { settings } from '../browser/page-settings.ts'
import { useSecondsLeft } from '../browser/use-seconds-left.ts'
import { CodeEntry } from '../codes/code-entry.tsx'
import { codeLife } from '../codes/code-life.ts'
import { useCodeMail } from '../codes/use-code-mail.ts'
import { AuthShell } from './auth-shell.tsx'
import type { Operation, Problem } from './sign-in-flow.ts'

type CodeStepProps = {
  operation: Operation
  code: string
  busy: boolean
  problem: Problem | null
  onCode: (code: string) => void
  onComplete: (code: string) => void
  onResend: () => Promise<void>
  onReturn: () => void
}

/** Asks for the mailed code. */
export function CodeStep(props: CodeStepProps) {
  const { id, email, sentAt } = props.operation
  const tipId = useId()
  const secondsLeft = useSecondsLeft(sentAt + CODE_RESEND_SECONDS * 1000)
  const tip = (
    <>
      Отправили код на <b>{email}</b>. Если письма нет, проверьте папку «Спам»
    </>
  )
  return (
    <AuthShell appName={settings().appName} tip={tip} tipId={tipId}>
      <CodeEntry
        code={props.code}
        life={codeLife(props.problem?.code)}
        mail={useCodeMail(id, sentAt)}
        sentAt={sentAt}
        secondsLeft={secondsLeft}
        busy={props.busy}
        error={props.problem?.message}
        describedBy={tipId}
        wide
        onType={props.onCode}
        onComplete={props.onComplete}
        onResend={props.onResend}
        onReturn={props.onReturn}
      />
    </AuthShell>
  )
}
