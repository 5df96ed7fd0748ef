import { useEffect, useEffectEvent } from 'react'
import { useRefusal } from '../codes/use-mailed-code.ts'
import { CallError, isUnanswered } from '../http/call-error.ts'
import { arePasskeysAllowed } from '../platform/passkeys-allowed.ts'
import { useAction } from '../session/use-action.tsx'
import type { PasskeySignIn } from './passkey-offer.ts'

type Attempt = { signIn: PasskeySignIn; restore?: true }
type Outcomes = {
  onSignedIn: (attempt: Attempt) => void
  onDeleted: (signIn: PasskeySignIn, message: string) => void
}

/** Signs in with a passkey that the person has chosen. */
export function usePasskey({ onSignedIn, onDeleted }: Outcomes) {
  const { mutate, isPending, error } = useAction({
    async mutationFn({ signIn, restore }: Attempt) {
      try {
        await signIn(restore).catch((reason) => {
          // The server repeats a lost answer. The browser would have to ask the person again.
          if (isUnanswered(reason)) return signIn(restore)
          throw reason
        })
      } catch (reason) {
        const isDeleted = reason instanceof CallError && reason.code === 'ACCOUNT_DELETED'
        if (!isDeleted) throw reason
        onDeleted(signIn, reason.message)
        return
      }
      onSignedIn({ signIn, ...(restore && { restore }) })
    },
  })
  return {
    isPending,
    refusal: useRefusal(error),
    signIn: (signIn: PasskeySignIn, restore?: true) =>
      mutate({ signIn, ...(restore && { restore }) }),
  }
}

/** Lets the browser offer passkeys in the e-mail field while the component is mounted. */
export function usePasskeyOffer(onChosen: (signIn: PasskeySignIn) => void): void {
  const choose = useEffectEvent(onChosen)
  useEffect(() => {
    if (!arePasskeysAllowed()) return
    const leaving = new AbortController()
    const { signal } = leaving
    const offer = async () => (await import('./passkey-offer.ts')).offerPasskeys(signal)
    // Whoever has no passkey, or does not choose one, signs in with a code.
    offer().then(
      (signIn) => signal.aborted || choose(signIn),
      () => {},
    )
    return () => leaving.abort()
  }, [])
}
