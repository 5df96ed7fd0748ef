import type { FastifyBaseLogger } from 'fastify'
import { AppError } from '../errors/app-error.ts'
import { type Counter, countInMemory, type Pace } from './gcra.ts'
import { networksOf } from './network.ts'

/** How many events at once, and in how many seconds as many again, one after the other. */
type Rate = readonly [events: number, seconds: number]

export type Limit = {
  /** Throws TOO_MANY_REQUESTS, with nothing counted. A `share` may use only a part of the burst. */
  charge(key: string, share?: number | undefined): Promise<void>
  refund(key: string): Promise<void>
  isSpent(key: string): Promise<boolean>
  /** Counts an address and, of IPv6, the networks that one subscriber or provider may hold. */
  chargeNetwork(ip: string | undefined): Promise<void>
  /** What people are told before the advice that every refusal has. */
  reason?: string
  /** Called at most once an hour for each key that is over the limit. */
  onTripped?: (by: Tripped) => void
}

/** The argument of `charge`, or an address and for IPv6 the size of its network. */
type Tripped = { limitKey: string } | { network: string; within?: string }

const FACTORS = [1, 4, 16, 256]

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** Makes every rate limit. Those that guard sign-in are counted for all nodes by `countShared`. */
export function createLimits(scale: number, countShared: (pace: Pace, name: string) => Counter) {
  const limit = (rates: Rate[], count: (pace: Pace, seconds: number) => Counter) =>
    limitOf(rates, (rate, factor) => count(paceOf(rate, scale * factor), rate[1]))
  const shared = (name: string, ...rates: Rate[]) =>
    limit(rates, (pace, seconds) => countShared(pace, `${name}/${seconds}`))
  const local = (...rates: Rate[]) => limit(rates, (pace) => countInMemory(pace))

  // The sentences name the unscaled numbers.
  const because = (reason: string, limit: Limit) =>
    scale === 1 ? Object.assign(limit, { reason }) : limit

  return {
    /** For clients that have signed in before. For others: features/codes/code-quota.ts. */
    knownClientMails: shared('known-client-mail', [1, MINUTE], [3, HOUR], [10, DAY]),
    codeMails: shared('code-mail', [1, MINUTE], [3, HOUR], [30, DAY]),
    /** For a mailbox and a network, as the two after it. */
    networkCodes: shared('network-code', [1, HOUR]),
    mailedNetworks: shared('mailed-network', [1 / scale, DAY]),
    wrongCodesOfMailed: shared('wrong-code-of-mailed', [1, DAY]),
    /** With the burst, 40 in any day. */
    wrongCodes: because(
      'Для этой почты слишком много неверных кодов: войдите с устройства, на котором уже входили',
      shared('wrong-code', [20, DAY]),
    ),
    codeRequests: shared('code-request', [10, MINUTE], [60, HOUR]),
    codeChecks: shared('code-check', [20, MINUTE], [100, HOUR]),
    /** For operations that do not exist, or have no attempts left. */
    unknownCodeChecks: shared('vain-code-check', [20, MINUTE], [100, HOUR]),
    emailChanges: shared('email-change', [5, HOUR], [15, DAY]),
    accountDeletions: shared('account-deletion', [5, HOUR], [15, DAY]),
    downloads: shared('download', [1, DAY]),
    /** For archives that broke off too, which `downloads` does not count. */
    downloadTries: shared('download-try', [5, DAY]),
    downloadTickets: shared('download-ticket', [1 / scale, MINUTE]),
    usernameChanges: because(
      'Имя можно менять трижды в сутки. Попробуйте позже',
      shared('username-change', [3, DAY]),
    ),
    reports: shared('report', [30, HOUR]),
    searches: local([5, 5]),
    emailUndos: local([20, MINUTE]),
    usernameChecks: local([20, MINUTE]),
    refreshes: local([150, 5 * MINUTE]),
    /** For a network whose cookie belongs to no session. */
    failedRefreshes: local([600, 5 * MINUTE]),
    visitorCalls: local([3000, 5 * MINUTE]),
    // The first visits of 300 people behind one address, of twenty files each, and a half more.
    pageFiles: local([9000, 5 * MINUTE]),
    userCalls: local([1500, 5 * MINUTE]),
    publications: local([5, 25]),
    newcomerPublications: because(
      'Первые сутки — одна запись в минуту. Подождите немного и повторите',
      local([1, MINUTE]),
    ),
    /** The 21st would pass a day after the first, when its author is no newcomer any more. */
    newcomerDays: because(
      'Первые сутки — не больше 20 записей. Попробуйте завтра',
      shared('newcomer-day', [20, 20 * DAY]),
    ),
    edits: local([5, 10]),
    likes: because('Не больше 300 отметок в сутки. Попробуйте позже', local([300, DAY])),
  }
}

export type Limits = ReturnType<typeof createLimits>

/** Multiplies a rate by `scale`. At least one event passes in the rate's time. */
export function paceOf([events, seconds]: Rate, scale: number): Pace {
  const scaled = Math.max(1, events * scale)
  return { burst: Math.floor(scaled), step: seconds / scaled }
}

export function logTripped(limits: Limits, log: Pick<FastifyBaseLogger, 'warn'>): void {
  for (const [name, limit] of Object.entries(limits)) {
    limit.onTripped = (by) => log.warn({ limit: name, ...by }, 'limit tripped')
  }
}

function limitOf(rates: Rate[], counterOf: (rate: Rate, factor: number) => Counter): Limit {
  const widths = FACTORS.map((factor) => rates.map((rate) => counterOf(rate, factor)))
  const [counters = []] = widths
  const trips = countInMemory({ burst: 1, step: HOUR })

  /** Counts one event for several keys. `ip`: whose networks the keys are. */
  async function count(
    events: [Counter, string][],
    { share, ip }: { share?: number | undefined; ip?: string },
  ) {
    for (const [at, [counter, key]] of events.entries()) {
      const charged = counter.charge(key, share)
      // What is counted in memory, as every request, waits for nothing.
      const retryAfter = typeof charged === 'number' ? charged : await charged
      if (retryAfter === 0) continue
      for (const [counted, other] of events.slice(0, at)) await counted.refund(other)
      if (trips.charge(key) === 0) limit.onTripped?.(trippedBy(key, ip))
      throw new AppError('TOO_MANY_REQUESTS', { retryAfter, message: limit.reason })
    }
  }

  const limit: Limit = {
    charge: (key, share) =>
      count(
        counters.map((counter) => [counter, key]),
        { share },
      ),
    async refund(key) {
      for (const counter of counters) await counter.refund(key)
    },
    async isSpent(key) {
      for (const counter of counters) if (await counter.isSpent(key)) return true
      return false
    },
    chargeNetwork(ip = '') {
      const events = networksOf(ip).flatMap((key, width) =>
        (widths[width] ?? []).map((counter): [Counter, string] => [counter, key]),
      )
      // The widest network first: of those that it refuses, however many, none is remembered.
      return count(events.reverse(), { ip })
    },
  }
  return limit
}

function trippedBy(key: string, ip?: string): Tripped {
  if (ip === undefined) return { limitKey: key }
  const [, bits] = key.split('/')
  return { network: ip, ...(bits && { within: `/${bits}` }) }
}

export type Charge = [
  limit: Pick<Limit, 'charge' | 'refund'>,
  key: string,
  share?: number | undefined,
]

export type Charged = { refund: () => Promise<void> }

/** Throws like the first limit that refuses, with nothing counted. */
export async function chargeAll(charges: Charge[]): Promise<Charged> {
  const charged: Charge[] = []
  const refund = async () => {
    for (const [limit, key] of charged) await limit.refund(key)
  }
  try {
    for (const charge of charges) {
      const [limit, key, share] = charge
      await limit.charge(key, share)
      charged.push(charge)
    }
  } catch (error) {
    await awaitUndo(refund(), error)
    throw error
  }
  return { refund }
}

/**
 * Awaits what undoes a call that was refused with `error`. After an error of the database it awaits
 * nothing: the caller would wait for a second timeout.
 */
export async function awaitUndo(undo: Promise<unknown>, error: unknown): Promise<void> {
  if (error instanceof AppError) await undo
  else undo.catch(() => {})
}
