import {
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  WebAuthnAbortService,
} from '@simplewebauthn/browser'
import { OPERATION_LIFE_MS } from '../../contract/constants.ts'
import { startPasskeySignIn, verifyPasskeySignIn } from './passkey.queries.ts'

/** Signs in with the chosen passkey. With `restore` it returns to a deleted account. */
export type PasskeySignIn = (restore?: true) => Promise<void>

/** How long an offer stands before its challenge becomes too old. */
const OFFER_MS = OPERATION_LIFE_MS / 2

/**
 * Lets the browser offer passkeys in the e-mail field until the signal is aborted. Resolves to the
 * sign-in with the passkey that the person chooses. Rejects if there is nothing to offer.
 */
export async function offerPasskeys(signal: AbortSignal): Promise<PasskeySignIn> {
  if (!(await browserSupportsWebAuthnAutofill())) throw new Error('no autofill of passkeys')
  for (;;) {
    const { id, options } = await startPasskeySignIn()
    signal.throwIfAborted()
    const cancel = () => WebAuthnAbortService.cancelCeremony()
    signal.addEventListener('abort', cancel)
    let isOld = false
    const timer = setTimeout(() => {
      isOld = true
      cancel()
    }, OFFER_MS)
    try {
      const chosen = await startAuthentication({ optionsJSON: options, useBrowserAutofill: true })
      const { authenticatorData, clientDataJSON, signature, userHandle } = chosen.response
      const signed = { authenticatorData, clientDataJSON, signature }
      const assertion = { id: chosen.id, ...signed, ...(userHandle && { userHandle }) }
      return (restore) => verifyPasskeySignIn(id, assertion, restore)
    } catch (error) {
      if (!isOld) throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    }
  }
}
