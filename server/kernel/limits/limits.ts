import { createHmac } from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Queryable } from '../db/database.ts'
import type { StoredCharge } from '../db/tables.ts'
import { AppError } from '../errors/app-error.ts'
import {
  chargeSharedLimits,
  refundSharedLimits,
  type SharedCount,
  selectWaits,
} from './limits.repository.ts'

/** Allows a burst of events at once, and refills it evenly over so many seconds (GCRA). */
type Rate = readonly [events: number, seconds: number]

export type Limit = {
  /** Names the counts in the database and the limit in the log, such as `code-mail`. */
  name: string
  rates: readonly Rate[]
  /** The message of the error; `{time}` stands for the time until the next event may happen. */
  refusal: string
  /** Whether PostgreSQL counts for all nodes; otherwise each node counts in its memory. */
  isShared?: boolean
  /** Whether RATE_LIMIT_SCALE does not change this limit. */
  isFixed?: boolean
}

/**
 * One event, or `times` events, of a key, or of an address and its networks. A `share` limits the
 * burst to a part.
 */
export type Charge = { limit: Limit; share?: number; times?: number } & (
  | { key: string }
  | { ip: string | undefined }
)

export type LimitRefusal = { limit: Limit; wait: number }

type Options = {
  db: Queryable
  scale: number
  hashKey: Buffer
  /** Called at most once an hour for each key that is over a limit. */
  onTrip: (tripped: Trip) => void
  now?: () => number
}

/** `within` is the size of the IPv6 network that is over the limit. */
export type Trip = { limit: string } & ({ limitKey: string } | { network: string; within?: string })

type Event = SharedCount & { charge: Charge; subject: string; seconds: number }

/** The multiples of a limit for an IPv4 address or IPv6 /64, a /56, a /48 and a /32. */
const FACTORS = [1, 4, 16, 256]
const HOUR = 3600
/** Waits are exact to a microsecond, as PostgreSQL's times are. */
const MICROSECONDS = 1e6
/** The most keys of a limit, because strangers choose keys. Each takes some 100 bytes. */
const KEYS_MAX = 50_000

type Arrivals = LRUCache<string, number>

// Without `max` the cache takes no memory for keys that have not come.
const newArrivals = (): Arrivals => new LRUCache({ maxSize: KEYS_MAX, sizeCalculation: () => 1 })

export class Limits {
  readonly #options: Required<Options>
  readonly #counts = new Map<string, Arrivals>()
  readonly #trips = newArrivals()

  constructor(options: Options) {
    this.#options = { now: () => performance.now() / 1000, ...options }
  }

  /** Counts all events, or counts none and throws TOO_MANY_REQUESTS with the longest wait. */
  async charge(charges: Charge[], db?: Queryable): Promise<void> {
    const refusal = await this.tryCharge(charges, db)
    if (refusal) throw tooMany(refusal)
  }

  /** Counts all events, or counts none and returns the refusal with the longest wait. */
  async tryCharge(charges: Charge[], db = this.#options.db): Promise<LimitRefusal | undefined> {
    const { shared, local } = this.#eventsOf(charges)
    const waits = local.map((event) => this.#waitInMemory(event))
    const refusal = this.#refusalBy(local, waits)
    if (refusal) return refusal
    this.#shiftInMemory(local, 1)
    if (shared.length === 0) return undefined
    let isCounted = false
    try {
      const refusal = this.#refusalBy(shared, await chargeSharedLimits(db, shared))
      isCounted = !refusal
      return refusal
    } finally {
      if (!isCounted) this.#shiftInMemory(local, -1)
    }
  }

  /** Returns the refusal that the events would get now. Counts nothing. */
  async findRefusal(charges: Charge[], db = this.#options.db): Promise<LimitRefusal | undefined> {
    const { events, waits } = await this.#waitsOf(charges, db)
    return this.#refusalBy(events, waits)
  }

  /** Returns how many events of each charge may happen now. */
  async countLeft(charges: Charge[], db = this.#options.db): Promise<number[]> {
    const { events, waits } = await this.#waitsOf(charges, db)
    const left = events.map(({ burst, step }, n) => Math.min(burst, 1 - (waits[n] ?? 0) / step))
    return charges.map((charge) => {
      const own = left.filter((_, n) => events[n]?.charge === charge)
      return Math.floor(Math.min(...own) + 1 / MICROSECONDS)
    })
  }

  async refund(charges: Charge[], db = this.#options.db): Promise<void> {
    const { shared, local } = this.#eventsOf(charges)
    this.#shiftInMemory(local, -1)
    if (shared.length > 0) await refundSharedLimits(db, shared)
  }

  /** Returns charges of shared limits as they are stored with what they were charged for. */
  toStored(charges: Charge[]): StoredCharge[] {
    return this.#eventsOf(charges).shared.map(({ key, step }) => ({ key, step }))
  }

  /** Refunds charges as they were made, even if the limits have changed since. */
  refundStored(charges: StoredCharge[], db = this.#options.db): Promise<void> {
    return refundSharedLimits(db, charges)
  }

  #eventsOf(charges: Charge[]): { shared: Event[]; local: Event[] } {
    const shared: Event[] = []
    const local: Event[] = []
    for (const charge of charges) {
      const { isShared, isFixed, name, rates } = charge.limit
      const { share = 1, times = 1 } = charge
      const group = isShared ? shared : local
      const subjects = 'ip' in charge ? networksOf(charge.ip) : [charge.key]
      for (const [width, subject] of subjects.entries()) {
        for (const [events, seconds] of rates) {
          const factor = (FACTORS[width] ?? 1) * (isFixed ? 1 : this.#options.scale)
          const scaled = Math.max(1, events * factor)
          const burst = Math.max(1, Math.round(Math.floor(scaled) * share))
          const key = isShared ? `${name}/${seconds} ${this.#hash(subject)}` : subject
          // Several events are one whose step is as long as theirs.
          const [step, bursts] = [(times * seconds) / scaled, burst / times]
          group.push({ charge, subject, key, step, burst: bursts, seconds })
        }
      }
    }
    return { shared, local }
  }

  #countsOf({ charge: { limit }, seconds }: Event): Arrivals {
    return this.#counts.getOrInsertComputed(`${limit.name}/${seconds}`, newArrivals)
  }

  #waitInMemory(event: Event): number {
    const arrival = this.#countsOf(event).get(event.key) ?? 0
    const wait = arrival - this.#options.now() - (event.burst - 1) * event.step
    // A wait of a second that is a rounding error longer would be announced as two.
    return Math.round(wait * MICROSECONDS) / MICROSECONDS
  }

  async #waitsOf(charges: Charge[], db = this.#options.db) {
    const { shared, local } = this.#eventsOf(charges)
    const waits = local.map((event) => this.#waitInMemory(event))
    if (shared.length > 0) waits.push(...(await selectWaits(db, shared)))
    return { events: [...local, ...shared], waits }
  }

  #shiftInMemory(events: Event[], direction: 1 | -1): void {
    const time = this.#options.now()
    for (const event of events) {
      const counts = this.#countsOf(event)
      const arrival = Math.max(counts.get(event.key) ?? 0, time)
      counts.set(event.key, arrival + direction * event.step)
    }
  }

  #refusalBy(events: Event[], waits: number[]): LimitRefusal | undefined {
    const wait = Math.max(0, ...waits)
    const event = wait > 0 ? events[waits.indexOf(wait)] : undefined
    if (!event) return undefined
    this.#reportTrip(event)
    return { limit: event.charge.limit, wait }
  }

  #reportTrip({ charge, subject }: Event): void {
    const limit = charge.limit.name
    const trip = `${limit} ${subject}`
    const time = this.#options.now()
    if ((this.#trips.get(trip) ?? 0) > time) return
    this.#trips.set(trip, time + HOUR)
    const [, bits] = subject.split('/')
    const tripped =
      'ip' in charge
        ? { network: charge.ip ?? '', ...(bits && { within: `/${bits}` }) }
        : { limitKey: this.#hash(subject) }
    this.#options.onTrip({ limit, ...tripped })
  }

  #hash(key: string): string {
    return createHmac('sha256', this.#options.hashKey).update(key).digest('base64url')
  }
}

/** Creates the error TOO_MANY_REQUESTS, whose message names the wait. */
export function tooMany({ limit, wait }: LimitRefusal): AppError {
  const message = limit.refusal.replace('{time}', formatWait(wait))
  return new AppError('TOO_MANY_REQUESTS', { message, retryAfter: wait })
}

/** Formats seconds as `0:45`, or from an hour on as `7 ч 12 мин`. */
export function formatWait(wait: number): string {
  const seconds = Math.max(1, Math.ceil(wait))
  if (seconds < HOUR) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  const minutes = Math.ceil(seconds / 60)
  return `${Math.floor(minutes / 60)} ч${minutes % 60 === 0 ? '' : ` ${minutes % 60} мин`}`
}

/** IPv6 networks whose addresses have an IPv4 address in them, and the bits before that one. */
const WITH_IPV4 = [
  ['::ffff:0:0/96', 96], // mapped (RFC 4291)
  ['::ffff:0:0:0/96', 96], // translated (RFC 7915)
  ['64:ff9b::/96', 96], // NAT64 (RFC 6052)
  ['64:ff9b:1::/48', 96], // NAT64 within a network (RFC 8215)
  ['2002::/16', 16], // 6to4 (RFC 3056)
].map(([network, before]) => [ipaddr.IPv6.parseCIDR(network as string), before as number] as const)

/** Parses an address without its zone, and IPv4 in IPv6 as IPv4. */
export function parseAddress(text = ''): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return parseAddressIn(text)?.address
}

/** Parses an address like parseAddress. `before` is the number of bits that it leaves out. */
export function parseAddressIn(
  text: string,
): { address: ipaddr.IPv4 | ipaddr.IPv6; before: number } | undefined {
  const written = text.replace(/%.*/s, '')
  // `isIP` is asked first, because ipaddr.js also accepts `1.2.3`.
  if (isIP(written) === 0) return undefined
  const address = ipaddr.parse(written)
  if (!('parts' in address)) return { address, before: 0 }
  const before = WITH_IPV4.find(([network]) => address.match(network))?.[1]
  if (before === undefined) return { address, before: 0 }
  const bytes = address.toByteArray().slice(before / 8, before / 8 + 4)
  return { address: new ipaddr.IPv4(bytes), before }
}

/** Returns an IPv4 address or an IPv6 /64; `unknown` for a reset connection or no address. */
export function networkOf(ip?: string): string {
  return networksOf(ip)[0]
}

/** Returns the widest network of one subscriber: an IPv4 address, an IPv6 /48. */
export function widestNetworkOf(ip?: string): string {
  const [narrowest, , widest] = networksOf(ip)
  return widest ?? narrowest
}

function networksOf(ip = ''): [string, ...string[]] {
  if (isIPv4(ip)) return [ip]
  const address = parseAddress(ip)
  if (address === undefined) return ['unknown']
  if (!('parts' in address)) return [address.toString()]
  const [a = 0, b = 0, c = 0, d = 0] = address.parts
  const hex = (...groups: number[]) => groups.map((group) => group.toString(16)).join(':')
  return [
    `${hex(a, b, c, d)}::/64`,
    `${hex(a, b, c, d & 0xff00)}::/56`,
    `${hex(a, b, c, 0)}::/48`,
    `${hex(a, b)}::/32`,
  ]
}

const HASH_BYTES = 3

/** Returns a keyed hash that 256 IPv4 addresses share; null for a local or unknown address. */
export function hashNetwork(ip: string, key: Buffer): Buffer | null {
  const network = widestNetworkOf(ip)
  if (/^(127\.|0:0:0::|unknown$)/.test(network)) return null
  return createHmac('sha256', key).update(`network ${network}`).digest().subarray(0, HASH_BYTES)
}
