/**
 * What is left of a one-time code: an expired one is replaced by a new one, while a locked one would only come once more,
 * and be refused once more.
 */
export type CodeLife = 'good' | 'expired' | 'locked'

/** What a refusal, by its error code, leaves of the one-time code. */
export function codeLife(refusal: string | undefined): CodeLife {
  if (refusal === 'OPERATION_EXPIRED') return 'expired'
  return refusal === 'MAX_CONFIRM_ATTEMPTS' ? 'locked' : 'good'
}
