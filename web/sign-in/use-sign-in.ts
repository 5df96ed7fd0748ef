import { useEffect, useState } from 'react'
import { useMailedCode } from '../codes/use-mailed-code.ts'
import { reloadBelowDialog } from '../history/history.ts'
import { rememberSession } from '../http/token.ts'
import { sessionStore } from '../platform/storage.ts'
import { ARRIVAL_KEY } from '../platform/stored-keys.ts'
import { announceSessionChange } from '../session/viewer.ts'
import { identify } from './identify.ts'
import { startSignIn, verifySignIn } from './sign-in.queries.ts'
import { type Step, stepAfter } from './sign-in-flow.ts'
import { signInOperation } from './sign-in-operation.ts'
import { usePasskey } from './use-passkey.ts'

/** Runs the sign-in flow. Success reloads the page. */
export function useSignIn() {
  const [step, setStep] = useState<Step>({ at: 'mail' })
  const mailed = useMailedCode({
    saved: signInOperation,
    start: async (start) => {
      const started = await startSignIn(start)
      setStep({ at: 'mail' })
      return started
    },
    verify: verifySignIn,
    onVerified: (_, { way }) => {
      enter(step.at === 'deleted' ? 'returned' : way === 'registration' && 'registered')
    },
    onRefused: (error, sent) => {
      const next = stepAfter(error, sent)
      if (next) setStep(next)
      return next !== null
    },
  })

  const passkey = usePasskey({
    onSignedIn: ({ restore }) => {
      signInOperation.remove()
      enter(restore && 'returned')
    },
    onDeleted: (signIn, message) => setStep({ at: 'deleted', signIn, message }),
  })

  function enter(arrival?: 'returned' | 'registered' | false): void {
    if (arrival) sessionStore.write(ARRIVAL_KEY, arrival)
    // The service worker may show a page that it has stored for a visitor.
    rememberSession()
    announceSessionChange()
    setStep({ at: 'done' })
    reloadBelowDialog()
  }

  useEffect(() => {
    // Starts early, because it takes a moment. If it fails, sending the address retries it.
    identify().catch(() => {})
  }, [])

  return {
    step,
    mailed,
    passkey,
    goBack: () => {
      mailed.goBack()
      setStep({ at: 'mail' })
    },
  }
}
