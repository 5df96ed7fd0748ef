import { isIPv4 } from 'node:net'
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
}

type Limiter = { consume(key: string): Promise<unknown> }

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
    limitOf(
      windows.map(
        ([count, duration]) =>
          new RateLimiterPostgres({
            storeClient: pool,
            storeType: 'pool',
            tableName: 'rate_limits',
            tableCreated: true,
            clearExpiredByTimeout: false,
            keyPrefix: `${name}/${duration}`,
            points: points(count),
            duration,
          }),
      ),
    )
  const local = (...windows: Window[]): Limit =>
    limitOf(
      windows.map(
        ([count, duration]) => new RateLimiterMemory({ points: points(count), duration }),
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
    // The first visits of 300 people behind one address: a page and some twenty files each, and a third more.
    pageFiles: local([9000, 5 * MINUTE]),
    userCalls: local([1500, 5 * MINUTE]),
    publications: createLeakyBucket({ seconds: 5 / scale, burst: points(5) }),
    likes: local([300, DAY]),
  }
}

export type Limits = ReturnType<typeof createLimits>

function limitOf(limiters: Limiter[]): Limit {
  const [only] = limiters
  // No async function around it: this runs for every request.
  if (only && limiters.length === 1) {
    return { charge: (key) => only.consume(key).then(ignore, refuse) }
  }
  return {
    async charge(key) {
      for (const limiter of limiters) await limiter.consume(key).catch(refuse)
    },
  }
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
 * The key under which an address is counted: itself for IPv4, its /64 for IPv6, which one subscriber holds. Some proxies
 * put a port behind it. A connection that was reset meanwhile has none: all such share one key.
 */
export function networkOf(ip = ''): string {
  if (!ip.includes(':')) return ip
  const address = ip
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
  if (isIPv4(address)) return address
  const [head = '', tail = ''] = address.split('%', 1).join('').split('::')
  const left = head.split(':').filter(Boolean)
  const right = tail.split(':').filter(Boolean)
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
