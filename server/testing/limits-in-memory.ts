import { type Charge, type Limit, type LimitRefusal, Limits } from '../kernel/limits/limits.ts'

/** Counts shared limits in memory too, on a clock of seconds that the test sets. */
export function limitsInMemory(now: () => number, scale = 1): Limits {
  const db = undefined as never
  return new LimitsInMemory({ db, scale, hashKey: Buffer.alloc(32), onTrip() {}, now })
}

class LimitsInMemory extends Limits {
  readonly #locals = new Map<Limit, Limit>()

  override async tryCharge(charges: Charge[]): Promise<LimitRefusal | undefined> {
    const refusal = await super.tryCharge(charges.map((charge) => this.#localOf(charge)))
    const asked = charges.find(({ limit }) => refusal && this.#locals.get(limit) === refusal.limit)
    return refusal && asked && { ...refusal, limit: asked.limit }
  }

  override countLeft(charges: Charge[]): Promise<number[]> {
    return super.countLeft(charges.map((charge) => this.#localOf(charge)))
  }

  override refund(charges: Charge[]): Promise<void> {
    return super.refund(charges.map((charge) => this.#localOf(charge)))
  }

  #localOf(charge: Charge): Charge {
    const limit = this.#locals.get(charge.limit) ?? { ...charge.limit, isShared: false }
    this.#locals.set(charge.limit, limit)
    return { ...charge, limit }
  }
}
