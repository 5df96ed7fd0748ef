import type { Attempt, Start } from '../codes/use-mailed-code.ts'
import type { CallError } from '../http/call-error.ts'

/** The steps beside the address and its code, which `mail` stands for. */
export type Step =
  | { at: 'mail' }
  | { at: 'offer-registration' }
  | { at: 'closed'; message: string }
  /** The code was right, and the same one brings the account back. */
  | { at: 'deleted'; code: string; message: string }
  | { at: 'done' }

/** Returns null for a refusal that is shown on the step where the person is. */
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
