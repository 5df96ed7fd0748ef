import { createHmac } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import { RateLimiterRes } from 'rate-limiter-flexible'
import type { Queryable } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { DatabaseClockLimiter } from './database-clock-limiter.ts'
import { createGcraLimit } from './gcra.ts'
import { type LimitReason, withReason } from './limit-reasons.ts'
import { MemoryWindows } from './memory-windows.ts'
import { networksOf } from './network.ts'

/** How many events in how many seconds. */
type Window = readonly [points: number, seconds: number]

export type Limit = {
  /** Counts one event under `key`. Throws TOO_MANY_REQUESTS, with the seconds to wait, over the limit. */
  charge(key: string): Promise<void>
  /** Takes back one event that was counted under `key`. */
  refund(key: string): Promise<void>
  /**
   * Counts one event for the network of an address: an IPv6 address under its /64, with 4 and 16 times the limit under its
   * /56 and /48, which one subscriber may hold as well, and with 256 times under its /32, which one provider holds. Throws
   * like `charge`; an event that is over the limit of a network is not counted for the others.
   */
  chargeNetwork(ip: string | undefined): Promise<void>
  /** Called for the first event of a window that is over the limit. */
  onTripped?: (by: Tripped) => void
}

/** Who went over a limit: the argument of `charge`, or an address and for IPv6 the size of its network. */
type Tripped = { limitKey: string } | { network: string; within?: string }

type Limiter = {
  points: number
  duration: number
  consume(key: string): Promise<unknown>
  reward(key: string): Promise<unknown>
  /** Whether the next event will be refused; absent where that cannot be known at once. */
  isSpent?(key: string): boolean
}

/** The limits of an IPv6 /56, /48 and /32, as multiples of that of a /64. */
const WIDER_FACTORS = [4, 16, 256]

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/**
 * Makes every rate limit of the product, multiplied by `scale`. Those that guard sign-in are counted in PostgreSQL, so that
 * nodes share them, under HMACs of their keys with `key`; the others in memory, on each node for itself.
 */
export function createLimits(pool: Pool, scale: number, key: Buffer) {
  const points = (count: number) => Math.max(1, Math.floor(count * scale))
  // A copy of the database must not reveal who called.
  const hash = (text: string) => createHmac('sha256', key).update(text).digest('base64url')
  const shared = (name: string, ...windows: Window[]): Limit =>
    limitOf(
      (factor) =>
        windows.map(
          ([count, duration]) =>
            new DatabaseClockLimiter({
              pool,
              tableName: 'rate_limits',
              keyPrefix: `${name}/${duration}`,
              points: points(count * factor),
              duration,
            }),
        ),
      hash,
    )
  const local = (...windows: Window[]): Limit =>
    limitOf((factor) =>
      windows.map(([count, duration]) => new MemoryWindows(points(count * factor), duration)),
    )

  // The sentences name the unscaled numbers.
  const because = <L extends Pick<Limit, 'charge'>>(reason: LimitReason, limit: L) =>
    scale === 1 ? withReason(reason, limit) : limit

  return {
    /** For a client that has signed in before; mails to others are counted in server/codes/mail-places.ts. */
    codeMails: shared('code-mail', [1, MINUTE], [3, HOUR], [10, DAY]),
    codeRequests: shared('code-request', [10, MINUTE], [60, HOUR]),
    codeChecks: shared('code-check', [20, MINUTE], [100, HOUR]),
    /** Codes for operations that do not exist, or have no attempts left. */
    unknownCodeChecks: shared('vain-code-check', [20, MINUTE], [100, HOUR]),
    emailChanges: shared('email-change', [5, HOUR], [15, DAY]),
    accountDeletions: shared('account-deletion', [5, HOUR], [15, DAY]),
    downloads: shared('download', [1, DAY]),
    /** Archives that were asked for, also those that broke off, which `downloads` does not count. */
    downloadTries: shared('download-try', [5, DAY]),
    /** A ticket serves once in the minute of its life, whatever the scale. */
    downloadTickets: shared('download-ticket', [1 / scale, MINUTE]),
    usernameChanges: because('usernameChanges', shared('username-change', [3, DAY])),
    reports: shared('report', [30, HOUR]),
    emailUndos: local([20, MINUTE]),
    usernameChecks: local([20, MINUTE]),
    /** Counted for a session. */
    refreshes: local([150, 5 * MINUTE]),
    /** Counted for a network, where the cookie belongs to no session. */
    failedRefreshes: local([600, 5 * MINUTE]),
    visitorCalls: local([3000, 5 * MINUTE]),
    // The first visits of 300 people behind one address, each of a page and some twenty files, and a third more.
    pageFiles: local([9000, 5 * MINUTE]),
    userCalls: local([1500, 5 * MINUTE]),
    publications: createGcraLimit({ seconds: 5 / scale, burst: points(5) }),
    /** For accounts that are less than a day old, besides `publications`. */
    newcomerPublications: because(
      'newcomerPublications',
      createGcraLimit({ seconds: 60 / scale, burst: points(1) }),
    ),
    newcomerDays: because('newcomerDays', shared('newcomer-day', [20, DAY])),
    edits: createGcraLimit({ seconds: 2 / scale, burst: points(5) }),
    likes: because('likes', local([300, DAY])),
  }
}

export type Limits = ReturnType<typeof createLimits>

/** Logs each limit that a key or a network goes over, once a window; the logger hashes the key or the address. */
export function logTripped(limits: Limits, log: FastifyBaseLogger): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (!('chargeNetwork' in limit)) continue
    limit.onTripped = (by) => log.warn({ limit: name, ...by }, 'limit tripped')
  }
}

/**
 * Makes a limit of one limiter for each of its windows. `limitersFor` makes those limiters for a multiple of the limit; they
 * count under `hash` of a key.
 */
function limitOf(
  limitersFor: (factor: number) => Limiter[],
  hash?: (key: string) => string,
): Limit {
  const onTripped = (by: Tripped) => limit.onTripped?.(by)
  const limiters = limitersFor(1)
  const charge = chargeAll(limiters, { hash, onTripped })
  const widths = [limiters, ...WIDER_FACTORS.map(limitersFor)].map((ofWidth) => ({
    charge: chargeAll(ofWidth, { hash, onTripped }),
    isSpent: (key: string) => ofWidth.some((limiter) => limiter.isSpent?.(key)),
  }))

  async function chargeWidths(keys: string[], ip: string | undefined): Promise<void> {
    // The widest one that refuses is charged alone: none of the networks in it, however many there are, is remembered.
    const spent = keys.findLastIndex((key, at) => widths[at]?.isSpent(key))
    for (const [at, key] of keys.entries()) {
      if (spent === -1 || spent === at) await widths[at]?.charge(key, ip)
    }
  }

  const limit: Limit = {
    charge: (key) => charge(key),
    async refund(key) {
      for (const limiter of limiters) await limiter.reward(hash ? hash(key) : key)
    },
    chargeNetwork(ip) {
      const [network, ...wider] = networksOf(ip)
      return wider.length === 0 ? charge(network, ip) : chargeWidths([network, ...wider], ip)
    },
  }
  return limit
}

type Charge = (key: string, ip?: string) => Promise<void>
type ChargeOptions = {
  hash: ((key: string) => string) | undefined
  onTripped: (by: Tripped) => void
}

function chargeAll(limiters: Limiter[], { hash, onTripped }: ChargeOptions): Charge {
  const [only] = limiters
  const consume = (limiter: Limiter, key: string, ip: string | undefined) =>
    limiter.consume(hash ? hash(key) : key).then(
      () => {},
      (refused) => {
        // The first event over the limit: it occurs once a window, on one of the nodes.
        const isFirst = refused.consumedPoints === limiter.points + 1
        if (isFirst) onTripped(ip === undefined ? { limitKey: key } : networkTripped(key, ip))
        refuse(refused, limiter)
      },
    )
  // Without an async function around it, since this runs for every request.
  if (only && limiters.length === 1) return (key, ip) => consume(only, key, ip)
  return async (key, ip) => {
    for (const limiter of limiters) await consume(limiter, key, ip)
  }
}

function networkTripped(key: string, ip: string): Tripped {
  const [, bits] = key.split('/')
  return { network: ip, ...(bits && { within: `/${bits}` }) }
}

/** Throws TOO_MANY_REQUESTS. The wait is at most the window, even where a clock has jumped. */
function refuse(refused: unknown, { duration }: Limiter): never {
  if (!(refused instanceof RateLimiterRes)) throw refused
  const retryAfter = Math.min(refused.msBeforeNext / 1000, duration)
  throw new AppError('TOO_MANY_REQUESTS', { retryAfter })
}

/** Deletes the counts of windows that have ended. */
export async function removeExpiredLimits(db: Queryable): Promise<void> {
  await db
    .deleteFrom('rate_limits')
    .where('expire', '<', sql<string>`extract(epoch FROM now()) * 1000`)
    .execute()
}
