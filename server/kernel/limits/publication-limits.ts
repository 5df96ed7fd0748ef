import { type Charged, chargeAll, type Limits } from './rate-limits.ts'

export type PublicationLimits = Pick<
  Limits,
  'publications' | 'newcomerPublications' | 'newcomerDays'
>

/** Accounts that are less than a day old have narrower limits. Throws with nothing counted. */
export function chargePublication(
  { publications, newcomerPublications, newcomerDays }: PublicationLimits,
  { userId, isNewcomer = false }: { userId: string; isNewcomer?: boolean },
): Promise<Charged> {
  const limits = isNewcomer ? [publications, newcomerPublications, newcomerDays] : [publications]
  return chargeAll(limits.map((limit) => [limit, userId]))
}
