import { createHmac } from 'node:crypto'
import type { Queryable } from '../db/database.ts'
import { AppError } from '../errors/app-error.ts'
import { chargeShared, isSpent, refundShared, type SharedCount } from './limits.repository.ts'
import { MemoryCounts } from './memory-counts.ts'
import { networksOf } from './network.ts'

/** So many events at once, and in so many seconds as many again, one after the other (GCRA). */
type Rate = readonly [events: number, seconds: number]

/** How often something may happen. Each feature declares its own beside its routes. */
export type Limit = {
  /** Names the counts in the database and the limit in the log, such as `code-mail`. */
  name: string
  rates: readonly Rate[]
  /** What the person reads: why, a colon, and `{time}` until the next event may happen. */
  refusal: string
  /** Counted in PostgreSQL for all nodes; otherwise each node counts in its memory. */
  isShared?: boolean
  /** Whether RATE_LIMIT_SCALE leaves it as it is. */
  isFixed?: boolean
  /** Whether the log does not say when it refuses: for what only notes that something happened. */
  isSilent?: boolean
}

/**
 * One event of a key, or of an address and, of IPv6, the networks that one subscriber or provider
 * may hold. A `share` may use only a part of the burst.
 */
export type Charge = { limit: Limit; share?: number } & (
  | { key: string }
  | { ip: string | undefined }
)

export type Refused = { limit: Limit; wait: number }

export type Limits = {
  /**
   * Counts all of the events. Throws TOO_MANY_REQUESTS with none of them counted; of several
   * limits that refuse, the one with the longest wait says why.
   */
  charge(charges: Charge[], db?: Queryable): Promise<void>
  /** The same, but returns what refuses. */
  tryCharge(charges: Charge[], db?: Queryable): Promise<Refused | undefined>
  /**
   * Counts the first events, or if they are refused the second, all of shared limits. Returns what
   * refuses both.
   */
  chargeEither(
    first: Charge[],
    second: Charge[],
    db?: Queryable,
  ): Promise<[first: Refused, second: Refused] | undefined>
  /** Whether an event would be refused. */
  isSpent(charge: Charge): Promise<boolean>
  /** Takes events back. What was never counted stays so. */
  refund(charges: Charge[], db?: Queryable): Promise<void>
}

type Options = {
  db: Queryable
  /** RATE_LIMIT_SCALE, which multiplies every limit. */
  scale: number
  /** Hashes the keys of stored counts: a copy of the database must not reveal who called. */
  hashKey: Buffer
  /** Called at most once an hour for each key that is over a limit. */
  onTripped: (tripped: Tripped) => void
  /** In seconds. */
  now?: () => number
}

/** The key over a limit, or the address and for IPv6 the size of its network. */
export type Tripped = { limit: string } & (
  | { limitKey: string }
  | { network: string; within?: string }
)

type Event = SharedCount & { charge: Charge; subject: string; seconds: number }

/** Allowances of an IPv4 address or IPv6 /64, a /56, a /48 and a /32. */
const FACTORS = [1, 4, 16, 256]
const HOUR = 3600
const ROUNDING = 1e-6

export function createLimits({ db, scale, hashKey, onTripped, now = seconds }: Options): Limits {
  const counts = new Map<string, MemoryCounts>()
  const trips = new MemoryCounts(HOUR)
  const hash = (key: string) => createHmac('sha256', hashKey).update(key).digest('base64url')

  function eventsOf(charge: Charge): Event[] {
    const { limit, share = 1 } = charge
    const subjects = 'ip' in charge ? networksOf(charge.ip) : [charge.key]
    return subjects.flatMap((subject, width) =>
      limit.rates.map(([events, seconds]) => {
        const factor = (FACTORS[width] ?? 1) * (limit.isFixed ? 1 : scale)
        const scaled = Math.max(1, events * factor)
        const burst = Math.max(1, Math.round(Math.floor(scaled) * share))
        const name = `${limit.name}/${seconds}`
        const key = limit.isShared ? `${name} ${hash(subject)}` : subject
        return { charge, subject, key, step: seconds / scaled, burst, seconds }
      }),
    )
  }

  function countsOf({ charge: { limit }, seconds }: Event): MemoryCounts {
    const name = `${limit.name}/${seconds}`
    const found = counts.get(name) ?? new MemoryCounts(seconds)
    counts.set(name, found)
    return found
  }

  function waitInMemory(event: Event, time: number): number {
    const wait = countsOf(event).arrivalOf(event.key) - time - (event.burst - 1) * event.step
    return wait > ROUNDING ? wait : 0
  }

  function moveInMemory(events: Event[], time: number, direction: 1 | -1): void {
    for (const event of events) {
      const arrival = Math.max(countsOf(event).arrivalOf(event.key), time)
      countsOf(event).set(event.key, arrival + direction * event.step, time)
    }
  }

  function refusedBy(events: Event[], waits: number[]): Refused | undefined {
    const wait = Math.max(0, ...waits)
    const event = wait > 0 ? events[waits.indexOf(wait)] : undefined
    if (!event) return undefined
    const { charge, subject } = event
    const trip = `${charge.limit.name} ${subject}`
    const time = now()
    if (!charge.limit.isSilent && trips.arrivalOf(trip) <= time) {
      trips.set(trip, time + HOUR, time)
      onTripped({ limit: charge.limit.name, ...trippedBy(charge, subject, hash) })
    }
    return { limit: charge.limit, wait }
  }

  async function tryCharge(charges: Charge[], tx = db): Promise<Refused | undefined> {
    const events = charges.flatMap(eventsOf)
    const shared = events.filter(({ charge }) => charge.limit.isShared)
    const local = shared.length === 0 ? events : events.filter((event) => !shared.includes(event))
    const time = now()
    const refused = refusedBy(
      local,
      local.map((event) => waitInMemory(event, time)),
    )
    if (refused) return refused
    moveInMemory(local, time, 1)
    if (shared.length === 0) return undefined
    try {
      const [waits] = await chargeShared(tx, shared)
      const refused = refusedBy(shared, waits)
      if (refused) moveInMemory(local, time, -1)
      return refused
    } catch (error) {
      moveInMemory(local, time, -1)
      throw error
    }
  }

  return {
    tryCharge,
    async charge(charges, tx) {
      const refused = await tryCharge(charges, tx)
      if (refused) throw tooMany(refused)
    },
    async chargeEither(first, second, tx = db) {
      const events = [first.flatMap(eventsOf), second.flatMap(eventsOf)] as const
      const [waits, otherWaits] = await chargeShared(tx, ...events)
      const refused = refusedBy(events[0], waits)
      const other = refused && refusedBy(events[1], otherWaits)
      return refused && other && [refused, other]
    },
    async isSpent(charge) {
      const events = eventsOf(charge)
      if (charge.limit.isShared) return isSpent(db, events)
      const time = now()
      return events.some((event) => waitInMemory(event, time) > 0)
    },
    async refund(charges, tx = db) {
      const events = charges.flatMap(eventsOf)
      const shared = events.filter(({ charge }) => charge.limit.isShared)
      moveInMemory(
        events.filter((event) => !shared.includes(event)),
        now(),
        -1,
      )
      if (shared.length > 0) await refundShared(tx, shared)
    },
  }
}

export function tooMany({ limit, wait }: Refused): AppError {
  const message = limit.refusal.replace('{time}', timeLeft(wait))
  return new AppError('TOO_MANY_REQUESTS', { message, retryAfter: wait })
}

/** Such as `0:45`, and from an hour on `7 ч 12 мин`. */
export function timeLeft(wait: number): string {
  const seconds = Math.max(1, Math.ceil(wait))
  if (seconds < HOUR) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  const minutes = Math.ceil(seconds / 60)
  return `${Math.floor(minutes / 60)} ч${minutes % 60 === 0 ? '' : ` ${minutes % 60} мин`}`
}

function trippedBy(charge: Charge, subject: string, hash: (key: string) => string) {
  if (!('ip' in charge)) return { limitKey: hash(subject) }
  const [, bits] = subject.split('/')
  return { network: charge.ip ?? '', ...(bits && { within: `/${bits}` }) }
}

function seconds(): number {
  return performance.now() / 1000
}
