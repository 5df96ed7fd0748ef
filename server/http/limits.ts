import { isIPv4, isIPv6 } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Queryable } from '../db/open.ts'
import { AppError } from './app-error.ts'
import { createLeakyBucket } from './leaky-bucket.ts'

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

type Limiter = { points: number; consume(key: string): Promise<unknown> }

/** How many times the allowance of an IPv6 /64 the /56 and the /48 around it have. */
const WIDER_SHARES = [4, 16]

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/**
 * Every rate limit of the product, multiplied by `scale`. Those that guard sign-in are counted in PostgreSQL, so that
 * nodes share them; the rest in memory, each node for itself.
 */
export function createLimits(pool: Pool, scale: number) {
  const points = (count: number) => Math.max(1, Math.floor(count * scale))
  const shared = (name: string, ...windows: Window[]): Limit =>
    limitOf((share) =>
      windows.map(
        ([count, duration]) =>
          new RateLimiterPostgres({
            storeClient: pool,
            storeType: 'pool',
            tableName: 'rate_limits',
            tableCreated: true,
            clearExpiredByTimeout: false,
            keyPrefix: `${name}/${duration}`,
            points: points(count * share),
            duration,
          }),
      ),
    )
  const local = (...windows: Window[]): Limit =>
    limitOf((share) =>
      windows.map(
        ([count, duration]) => new RateLimiterMemory({ points: points(count * share), duration }),
      ),
    )

  return {
    codeMails: shared('code-mail', [1, MINUTE], [3, HOUR], [10, DAY]),
    codeRequests: shared('code-request', [10, MINUTE], [60, HOUR]),
    codeChecks: shared('code-check', [20, MINUTE], [100, HOUR]),
    emailChanges: shared('email-change', [5, HOUR], [15, DAY]),
    usernameChecks: local([20, MINUTE]),
    refreshes: local([150, 5 * MINUTE]),
    visitorCalls: local([3000, 5 * MINUTE]),
    userCalls: local([1500, 5 * MINUTE]),
    publications: createLeakyBucket({ seconds: 5 / scale, burst: points(5) }),
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

/** A limit by its limiters, one a window, which are made for each share of the allowance. */
function limitOf(limitersFor: (share: number) => Limiter[]): Limit {
  const onTripped = (whose: Tripped) => limit.onTripped?.(whose)
  const charge = chargeAll(limitersFor(1), onTripped)
  const around = WIDER_SHARES.map((share) => chargeAll(limitersFor(share), onTripped))
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

function chargeAll(limiters: Limiter[], onTripped: (whose: Tripped) => void): Charge {
  const [only] = limiters
  const consume = (limiter: Limiter, key: string, ip: string | undefined) =>
    limiter.consume(key).then(ignore, (refused) => {
      // The event after the last that was allowed: one a window, and of all nodes one sees it.
      const isFirst = refused.consumedPoints === limiter.points + 1
      if (isFirst) onTripped(ip === undefined ? { limitKey: key } : whoseNetwork(key, ip))
      refuse(refused)
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

function refuse(refused: unknown): never {
  if (!(refused instanceof RateLimiterRes)) throw refused
  throw new AppError('TOO_MANY_REQUESTS', { retryAfter: refused.msBeforeNext / 1000 })
}

/** Removes the counts of windows that are over. */
export async function removeExpiredLimits(db: Queryable): Promise<void> {
  await db.deleteFrom('rate_limits').where('expire', '<', String(Date.now())).execute()
}

/**
 * The key under which an address is counted: itself for IPv4, its /64 for IPv6, which one subscriber holds. What is no
 * address, as an odd proxy may send it, shares one key, and so do connections that were reset meanwhile and have none.
 */
export function networkOf(ip?: string): string {
  return networksOf(ip)[0]
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
