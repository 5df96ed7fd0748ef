import type { Attempt, Start } from '../codes/use-mailed-code.ts'
import type { CallError } from '../http/call-error.ts'
import type { PasskeySignIn } from './passkey-offer.ts'

/** A step of the flow. `mail` stands for both the address and its code. */
export type Step =
  | { at: 'mail' }
  | { at: 'offer-registration' }
  | { at: 'closed'; message: string }
  /** The code was right, and sending it again restores the account; so does the passkey. */
  | { at: 'deleted'; code: string; message: string }
  | { at: 'deleted'; signIn: PasskeySignIn; message: string }
  | { at: 'done' }

/** Returns the step after a refusal; null if the current step shows the refusal. */
export function stepAfter(
  { code, message }: Pick<CallError, 'code' | 'message'>,
  sent: Start | Attempt,
): Step | null {
  if (code === 'REGISTRATION_CLOSED') return { at: 'closed', message }
  if ('email' in sent) {
    const isUnknown = code === 'USER_NOT_FOUND' && sent.way === 'login'
    return isUnknown ? { at: 'offer-registration' } : null
  }
  return code === 'ACCOUNT_DELETED' ? { at: 'deleted', code: sent.code, message } : null
}
