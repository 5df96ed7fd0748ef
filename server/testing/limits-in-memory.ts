import {
  type Charge,
  createLimits,
  type Limit,
  type Limits,
  type Refused,
} from '../kernel/limits/limits.ts'

/** Counts shared limits in memory too, on a clock of seconds that the test sets. */
export function limitsInMemory(now: () => number, scale = 1): Limits {
  const limits = createLimits({
    db: undefined as never,
    scale,
    hashKey: Buffer.alloc(32),
    onTripped() {},
    now,
  })
  const locals = new Map<Limit, Limit>()
  function local(charge: Charge): Charge {
    const limit = locals.get(charge.limit) ?? { ...charge.limit, isShared: false }
    locals.set(charge.limit, limit)
    return { ...charge, limit }
  }
  async function tryCharge(charges: Charge[]): Promise<Refused | undefined> {
    const refused = await limits.tryCharge(charges.map(local))
    const asked = charges.find(({ limit }) => refused && locals.get(limit) === refused.limit)
    return refused && asked && { ...refused, limit: asked.limit }
  }
  return {
    charge: (charges) => limits.charge(charges.map(local)),
    tryCharge,
    async chargeEither(first, second) {
      const refused = await tryCharge(first)
      const other = refused && (await tryCharge(second))
      return refused && other && [refused, other]
    },
    isSpent: (charge) => limits.isSpent(local(charge)),
    refund: (charges) => limits.refund(charges.map(local)),
  }
}
