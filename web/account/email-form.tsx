import { useState } from 'react'
import { type EmailChange, startEmailChange, verifyEmailChange } from './email-change.ts'
import { EmailCodeStep } from './email-code-step.tsx'
import { NewEmailStep } from './new-email-step.tsx'
import { useAttempt } from './use-attempt.ts'

/** Changes the account's e-mail in two steps: the new address, then the code mailed to it. */
export function EmailForm({ onSaved }: { onSaved: () => void }) {
  const [change, setChange] = useState<EmailChange | null>(null)
  const [asked, setAsked] = useState('')
  const { busy, refusal, clearRefusal, run } = useAttempt()
  const start = (email: string) => run(async () => setChange(await startEmailChange(email)))

  if (!change) {
    return (
      <NewEmailStep
        initial={asked}
        busy={busy}
        refusal={refusal}
        onType={clearRefusal}
        onSubmit={start}
      />
    )
  }
  return (
    <EmailCodeStep
      change={change}
      busy={busy}
      refusal={refusal}
      onType={clearRefusal}
      onResend={() => start(change.email)}
      onReturn={() => {
        clearRefusal()
        setAsked(change.email)
        setChange(null)
      }}
      onComplete={(code) =>
        run(async () => {
          await verifyEmailChange(change, code)
          onSaved()
        })
      }
    />
  )
}
