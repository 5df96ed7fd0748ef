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
      if (step.at === 'deleted') sessionStore.write(ARRIVAL_KEY, 'returned')
      else if (way === 'registration') sessionStore.write(ARRIVAL_KEY, 'registered')
      // The service worker may show a page that it has stored for a visitor.
      rememberSession()
      announceSessionChange()
      setStep({ at: 'done' })
      reloadBelowDialog()
    },
    onRefused: (error, sent) => {
      const next = stepAfter(error, sent)
      if (next) setStep(next)
      return next !== null
    },
  })

  useEffect(() => {
    // Starts early, because it takes a moment. If it fails, sending the address retries it.
    identify().catch(() => {})
  }, [])

  return {
    step,
    mailed,
    goBack: () => {
      mailed.goBack()
      setStep({ at: 'mail' })
    },
  }
}
