import { type Charged, chargeAll, type Limits } from './rate-limits.ts'

/** The limits on publishing posts and replies. */
export type PublicationLimits = Pick<
  Limits,
  'publications' | 'newcomerPublications' | 'newcomerDays'
>

/**
 * Counts a publication of a user. Throws TOO_MANY_REQUESTS with nothing counted, sooner for an account that is less than a
 * day old.
 */
export function chargePublication(
  { publications, newcomerPublications, newcomerDays }: PublicationLimits,
  { userId, isNewcomer = false }: { userId: string; isNewcomer?: boolean },
): Promise<Charged> {
  const limits = isNewcomer ? [publications, newcomerPublications, newcomerDays] : [publications]
  return chargeAll(limits.map((limit) => [limit, userId]))
}
