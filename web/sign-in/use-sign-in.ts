import { useEffect, useState } from 'react'
import { savedOperation } from '../codes/saved-operation.ts'
import { type Start, useMailedCode } from '../codes/use-mailed-code.ts'
import { call } from '../http/call.ts'
import { announceSessionChange } from '../session/viewer.ts'
import { saveArrival } from './arrival.ts'
import { identify } from './identify.ts'
import { savedInvitation } from './invitation.ts'
import { type Step, stepAfter } from './sign-in-flow.ts'

/** Success reloads the page. */
export function useSignIn() {
  const [step, setStep] = useState<Step>({ at: 'mail' })
  const mailed = useMailedCode({
    saved: savedOperation('sign-in'),
    start: async (start, signal) => {
      const started = await startSignIn(start, signal)
      setStep({ at: 'mail' })
      return started
    },
    verify: ({ params, body }, { way, restore }) => {
      const restoring = { ...body, ...(restore && { restore }) }
      return way === 'registration'
        ? call('POST /registrations/:id/verify', {
            params,
            body: { ...restoring, ...savedInvitation() },
          })
        : call('POST /logins/:id/verify', { params, body: restoring })
    },
    onVerified: (_, { way }) => {
      if (step.at === 'deleted') saveArrival('returned')
      else if (way === 'registration') saveArrival('registered')
      announceSessionChange()
      location.reload()
      setStep({ at: 'done' })
    },
    onRefused: (error, sent) => {
      const next = stepAfter(error, sent)
      if (next) setStep(next)
      return next !== null
    },
  })

  useEffect(() => {
    // This takes a moment. Should it fail, sending the address tries again and shows the error.
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

async function startSignIn({ email, way }: Start, signal?: AbortSignal): Promise<{ id: string }> {
  const body = { email, ...(await identify()) }
  return way === 'registration'
    ? call('POST /registrations', { body: { ...body, ...savedInvitation() } }, { signal })
    : call('POST /logins', { body }, { signal })
}
