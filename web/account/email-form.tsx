import { useState } from 'react'
import type { EmailChange } from './email-change.ts'
import { EmailCodeStep } from './email-code-step.tsx'
import { NewEmailStep } from './new-email-step.tsx'

/** Changes the account's e-mail in two steps: the new address, then the code mailed to it. */
export function EmailForm({ onSaved }: { onSaved: () => void }) {
  const [change, setChange] = useState<EmailChange | null>(null)
  const [lastEmail, setLastEmail] = useState('')

  if (!change) return <NewEmailStep initial={lastEmail} onStarted={setChange} />
  return (
    <EmailCodeStep
      change={change}
      onRestarted={setChange}
      onSaved={onSaved}
      onReturn={() => {
        setLastEmail(change.email)
        setChange(null)
      }}
    />
  )
}
