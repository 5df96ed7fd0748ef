import { createHmac } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Queryable } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { DatabaseClockLimiter } from './database-clock-limiter.ts'
import { createLeakyBucket } from './gcra.ts'

/** How many, in how many seconds. */
type Window = readonly [points: number, seconds: number]

export type Limit = {
  /** Counts one event under `key`; throws TOO_MANY_REQUESTS, with the seconds to wait, when there were too many. */
  charge(key: string): Promise<void>
  /**
   * Counts one event of the network of an address: of an IPv6 address under its /64, and with 4 and 16 times the
   * allowance under its /56 and /48, which one subscriber may hold as well. Throws like `charge`; what a network is
   * refused is not counted for those around it.
   */
  chargeNetwork(ip: string | undefined): Promise<void>
  /** Called for the first event of a window that is one too many. */
  onTripped?: (whose: Tripped) => void
}

/** Whose events were too many: what `charge` was given, or an address, and for IPv6 the size of the network around it. */
type Tripped = { limitKey: string } | { network: string; within?: string }

type Limiter = { points: number; duration: number; consume(key: string): Promise<unknown> }

/** How many times the allowance of an IPv6 /64 the /56 and the /48 around it have. */
const WIDER_SHARES = [4, 16]

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/**
 * Every rate limit of the product, multiplied by `scale`. Those that guard sign-in are counted in PostgreSQL, so that
 * nodes share them, under HMACs by `key` of what they are counted by; the rest in memory, each node for itself.
 */
export function createLimits(pool: Pool, scale: number, key: Buffer) {
  const points = (count: number) => Math.max(1, Math.floor(count * scale))
  // A copy of the database must not name who asked.
  const hash = (text: string) => createHmac('sha256', key).update(text).digest('base64url')
  const shared = (name: string, ...windows: Window[]): Limit =>
    limitOf(
      (share) =>
        windows.map(
          ([count, duration]) =>
            new DatabaseClockLimiter({
              pool,
              tableName: 'rate_limits',
              keyPrefix: `${name}/${duration}`,
              points: points(count * share),
              duration,
            }),
        ),
      hash,
    )
  const local = (...windows: Window[]): Limit =>
    limitOf((share) =>
      windows.map(
        ([count, duration]) => new RateLimiterMemory({ points: points(count * share), duration }),
      ),
    )

  return {
    /** For a client that has signed in before; what others get is counted in server/codes/mail-places.ts. */
    codeMails: shared('code-mail', [1, MINUTE], [3, HOUR], [10, DAY]),
    codeRequests: shared('code-request', [10, MINUTE], [60, HOUR]),
    codeChecks: shared('code-check', [20, MINUTE], [100, HOUR]),
    /** Codes for operations that are not there, or have no attempts left. */
    vainCodeChecks: shared('vain-code-check', [20, MINUTE], [100, HOUR]),
    emailChanges: shared('email-change', [5, HOUR], [15, DAY]),
    usernameChanges: shared('username-change', [3, DAY]),
    reports: shared('report', [30, HOUR]),
    emailUndos: local([20, MINUTE]),
    usernameChecks: local([20, MINUTE]),
    /** For a session. */
    refreshes: local([150, 5 * MINUTE]),
    /** For a network whose cookies open no session. */
    vainRefreshes: local([600, 5 * MINUTE]),
    visitorCalls: local([3000, 5 * MINUTE]),
    // The first visits of 300 people behind one address: a page and some twenty files each, and a third more.
    pageFiles: local([9000, 5 * MINUTE]),
    userCalls: local([1500, 5 * MINUTE]),
    publications: createLeakyBucket({ seconds: 5 / scale, burst: points(5) }),
    edits: createLeakyBucket({ seconds: 2 / scale, burst: points(5) }),
    likes: local([300, DAY]),
  }
}

export type Limits = ReturnType<typeof createLimits>

/** Logs each limit that a key or a network goes over, once a window; the logger hashes whom that is about. */
export function logTripped(limits: Limits, log: FastifyBaseLogger): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (!('chargeNetwork' in limit)) continue
    limit.onTripped = (whose) => log.warn({ limit: name, ...whose }, 'limit tripped')
  }
}

/** A limit by its limiters, one a window, which are made for each share of the allowance and count under `hash` of a key. */
function limitOf(limitersFor: (share: number) => Limiter[], hash?: (key: string) => string): Limit {
  const onTripped = (whose: Tripped) => limit.onTripped?.(whose)
  const charge = chargeAll(limitersFor(1), { hash, onTripped })
  const around = WIDER_SHARES.map((share) => chargeAll(limitersFor(share), { hash, onTripped }))
  const limit: Limit = {
    charge: (key) => charge(key),
    chargeNetwork(ip) {
      const [network, ...wider] = networksOf(ip)
      const charged = charge(network, ip)
      // IPv4 has no wider networks, and its promise is passed on as it is.
      return wider.reduce((before, key, at) => before.then(() => around[at]?.(key, ip)), charged)
    },
  }
  return limit
}

type Charge = (key: string, ip?: string) => Promise<void>
type ChargeOptions = {
  hash: ((key: string) => string) | undefined
  onTripped: (whose: Tripped) => void
}

function chargeAll(limiters: Limiter[], { hash, onTripped }: ChargeOptions): Charge {
  const [only] = limiters
  const consume = (limiter: Limiter, key: string, ip: string | undefined) =>
    limiter.consume(hash ? hash(key) : key).then(ignore, (refused) => {
      // The event after the last that was allowed: one a window, and of all nodes one sees it.
      const isFirst = refused.consumedPoints === limiter.points + 1
      if (isFirst) onTripped(ip === undefined ? { limitKey: key } : whoseNetwork(key, ip))
      refuse(refused, limiter)
    })
  // No async function around it: this runs for every request.
  if (only && limiters.length === 1) return (key, ip) => consume(only, key, ip)
  return async (key, ip) => {
    for (const limiter of limiters) await consume(limiter, key, ip)
  }
}

function whoseNetwork(key: string, ip: string): Tripped {
  const [, bits] = key.split('/')
  return { network: ip, ...(bits && { within: `/${bits}` }) }
}

function ignore(): void {}

/** No wait is longer than the window, whatever a clock that jumped makes of its end. */
function refuse(refused: unknown, { duration }: Limiter): never {
  if (!(refused instanceof RateLimiterRes)) throw refused
  const retryAfter = Math.min(refused.msBeforeNext / 1000, duration)
  throw new AppError('TOO_MANY_REQUESTS', { retryAfter })
}

/** Removes the counts of windows that are over. */
export async function removeExpiredLimits(db: Queryable): Promise<void> {
  await db
    .deleteFrom('rate_limits')
    .where('expire', '<', sql<string>`extract(epoch FROM now()) * 1000`)
    .execute()
}

/**
 * The key under which an address is counted: itself for IPv4, its /64 for IPv6, which one subscriber holds. What is no
 * address, as an odd proxy may send it, shares one key, and so do connections that were reset meanwhile and have none.
 */
export function networkOf(ip?: string): string {
  return networksOf(ip)[0]
}

/** The widest network that one subscriber may hold: an IPv4 address itself, an IPv6 address's /48. */
export function widestNetworkOf(ip?: string): string {
  return networksOf(ip).at(-1) ?? 'unknown'
}

/** The keys of an address, the narrowest network first: for IPv6 its /64, /56 and /48. */
function networksOf(ip = ''): [string, ...string[]] {
  if (isIPv4(ip)) return [ip]
  // A server that listens on IPv6 sees IPv4 as a part of it, and some proxies put a port behind an address.
  const address = ip
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
  if (isIPv4(address)) return [address]
  if (!isIPv6(address)) return ['unknown']
  const [a = 0, b = 0, c = 0, d = 0, ...rest] = groupsOf(address)
  if (a + b + c + d + (rest[0] ?? 0) === 0 && rest[1] === 0xffff) {
    return [[rest[2] ?? 0, rest[3] ?? 0].flatMap((group) => [group >> 8, group & 255]).join('.')]
  }
  const prefix = [a, b, c].map((group) => group.toString(16)).join(':')
  const at = (group: number, bits: number) => `${prefix}:${group.toString(16)}::/${bits}`
  return [at(d, 64), at(d & 0xff00, 56), at(0, 48)]
}

/** The eight 16-bit groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail = ''] = address.replace(/%.*/, '').split('::')
  const left = parseGroups(head)
  const right = parseGroups(tail)
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}

function parseGroups(part: string): number[] {
  const groups = part.split(':').filter(Boolean)
  return groups.flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [(a << 8) | b, (c << 8) | d]
  })
}
