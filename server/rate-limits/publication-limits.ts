import type { Limits } from './rate-limits.ts'

/** The limits on publishing posts and replies. */
export type PublicationLimits = Pick<
  Limits,
  'publications' | 'newcomerPublications' | 'newcomerDays'
>

/** What was counted may be taken back. */
export type Charged = { refund: () => Promise<void> }

/**
 * Counts a publication of a user. Throws TOO_MANY_REQUESTS with nothing counted, sooner for an account that is less than a
 * day old.
 */
export async function chargePublication(
  { publications, newcomerPublications, newcomerDays }: PublicationLimits,
  { userId, isNewcomer = false }: { userId: string; isNewcomer?: boolean },
): Promise<Charged> {
  const limits = isNewcomer ? [publications, newcomerPublications, newcomerDays] : [publications]
  const charged: typeof limits = []
  const refund = async () => {
    for (const limit of charged) await limit.refund(userId)
  }
  try {
    for (const limit of limits) {
      await limit.charge(userId)
      charged.push(limit)
    }
  } catch (error) {
    await refund()
    throw error
  }
  return { refund }
}
