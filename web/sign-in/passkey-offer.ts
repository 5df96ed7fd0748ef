import { OPERATION_LIFE_MS } from '../../contract/constants.ts'
import { chooseCredential, isAutofillSupported } from '../platform/web-authn.ts'
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
  if (!(await isAutofillSupported())) throw new Error('no autofill of passkeys')
  for (;;) {
    const { id, options } = await startPasskeySignIn()
    const old = AbortSignal.timeout(OFFER_MS)
    try {
      const assertion = await chooseCredential(options, AbortSignal.any([signal, old]))
      return (restore) => verifyPasskeySignIn(id, assertion, restore)
    } catch (error) {
      if (signal.aborted || !old.aborted) throw error
    }
  }
}
