import { useId } from 'react'
import { settings } from '../browser/page-settings.ts'
import { CodeEntry } from '../codes/code-entry.tsx'
import { AuthShell } from './auth-shell.tsx'
import type { Operation, Problem } from './sign-in-flow.ts'

type CodeStepProps = {
  operation: Operation
  code: string
  busy: boolean
  isResending: boolean
  problem: Problem | null
  onType: (code: string) => void
  onComplete: (code: string) => void
  onResend: () => void
  onReturn: () => void
}

/** Asks for the mailed code. */
export function CodeStep({ problem, ...entry }: CodeStepProps) {
  const tipId = useId()
  const tip = (
    <>
      Отправили код на <b>{entry.operation.email}</b>. Если письма нет, проверьте папку «Спам»
    </>
  )
  return (
    <AuthShell appName={settings().appName} tip={tip} tipId={tipId}>
      <CodeEntry {...entry} error={problem} describedBy={tipId} wide />
    </AuthShell>
  )
}
