import { CODE_LENGTH } from '../../contract/limits.ts'
import { settings } from '../lib/settings.ts'
import { Button } from '../ui/button.tsx'
import { CodeInput } from '../ui/code-input.tsx'
import { AuthShell } from './auth-shell.tsx'
import { ResendCode } from './resend-code.tsx'
import type { Operation, Problem } from './sign-in-flow.ts'
import styles from './steps.module.css'

type CodeStepProps = {
  operation: Operation
  code: string
  busy: boolean
  problem: Problem | null
  /** No code can finish this operation any more. */
  spent: boolean
  onCode: (code: string) => void
  onComplete: (code: string) => void
  onResend: () => Promise<void>
  onReturn: () => void
}

/** Asks for the mailed code; a full one is sent at once. */
export function CodeStep(props: CodeStepProps) {
  const { operation, code, busy, problem, spent, onCode, onComplete, onResend, onReturn } = props
  const full = code.length === CODE_LENGTH
  const tip = (
    <>
      Отправили код на <b>{operation.email}</b>. Если письма нет, проверьте папку «Спам»
    </>
  )
  return (
    <AuthShell appName={settings().appName} tip={tip}>
      <CodeInput
        label="Код подтверждения"
        length={CODE_LENGTH}
        value={code}
        readOnly={busy || spent}
        error={problem?.message}
        status={busy && full ? { kind: 'busy', text: 'Проверяем код...' } : undefined}
        focusOnMount
        onChange={onCode}
        onComplete={onComplete}
      />
      <div className={styles.actions}>
        {full && !busy && problem && (
          <Button variant="primary" wide onClick={() => onComplete(code)}>
            Повторить
          </Button>
        )}
        {problem?.code !== 'MAX_CONFIRM_ATTEMPTS' && (
          <ResendCode operation={operation} spent={spent} disabled={busy} onResend={onResend} />
        )}
        <Button variant="plain" wide disabled={busy} onClick={onReturn}>
          Вернуться
        </Button>
      </div>
    </AuthShell>
  )
}
