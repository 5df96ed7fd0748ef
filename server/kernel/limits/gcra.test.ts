import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { atOnce } from '../../testing/at-once.ts'
import { freshDatabase, lockWaits } from '../../testing/databases.ts'
import { passLimitTime } from '../../testing/passing-time.ts'
import { openDatabase } from '../db/database.ts'
import { AppError } from '../errors/app-error.ts'
import { countHashed, countInDatabase, removeExpiredLimits } from './gcra.repository.ts'
import { countInMemory, type Pace } from './gcra.ts'
import {
  chargeAll,
  createLimits,
  type Limit,
  type Limits,
  logTripped,
  paceOf,
} from './rate-limits.ts'

/** A counter on a clock that the test moves. */
function counterAt(pace: Pace) {
  let seconds = 1000
  const counter = countInMemory(pace, () => seconds)
  return {
    ...counter,
    wait: (more: number) => {
      seconds += more
    },
    charge: (key = 'olga', share?: number) => counter.charge(key, share) as number,
  }
}

/**
 * Limits on a clock that stands still. Of codes: 3 requests for a /64, 12 for a /56, 48 for a /48,
 * 768 for a /32.
 */
function limitsOnStillClock(onCharge = (_key: string) => {}) {
  return createLimits(0.3, (pace) => {
    const counter = countInMemory(pace, () => 0)
    return {
      ...counter,
      charge(key, share) {
        onCharge(key)
        return counter.charge(key, share)
      },
    }
  })
}

function passes(charged: Promise<void>): Promise<boolean> {
  return charged.then(
    () => true,
    () => false,
  )
}

async function openLimitsTable() {
  const database = await freshDatabase(inject('databaseUrl'))
  const { db, pool, close } = openDatabase(database.url, () => {})
  onTestFinished(async () => {
    await close()
    await database.drop()
  })
  return {
    db,
    pool,
    wait: (seconds: number) => passLimitTime({ db }, seconds),
  }
}

test('five pass at once, the sixth waits five seconds, and each five seconds let one more pass', () => {
  const { wait, charge } = counterAt({ burst: 5, step: 5 })
  for (let event = 0; event < 5; event++) expect(charge()).toBe(0)
  expect(charge()).toBe(5)
  wait(4)
  expect(charge()).toBe(1)
  wait(1)
  expect(charge()).toBe(0)
  expect(charge()).toBe(5)
})

test('in no minute of trying more than the burst and one in five seconds pass', () => {
  const { wait, charge } = counterAt({ burst: 5, step: 5 })
  let passed = 0
  for (let second = 0; second < 60; second++) {
    if (charge() === 0) passed++
    wait(1)
  }
  expect(passed).toBe(5 + 11)
})

test('each key is counted on its own, and may burst again after a pause', () => {
  const { wait, charge } = counterAt({ burst: 2, step: 5 })
  expect([charge(), charge(), charge()]).toEqual([0, 0, 5])
  expect(charge('petr')).toBe(0)
  wait(10)
  expect([charge(), charge(), charge()]).toEqual([0, 0, 5])
})

test('of a burst of four, a share of three quarters leaves the last to others', () => {
  const { wait, charge } = counterAt({ burst: 4, step: 10 })
  const most = () => charge('all', 3 / 4)
  expect([most(), most(), most(), most()]).toEqual([0, 0, 0, 10])
  expect([charge('all'), charge('all'), most()]).toEqual([0, 10, 20])
  wait(10)
  expect([most(), charge('all')]).toEqual([10, 0])
})

test('what was taken back does not count, and what is refused does not either', () => {
  const { charge, refund, isSpent } = counterAt({ burst: 1, step: 60 })
  expect([isSpent('olga'), charge(), isSpent('olga'), charge(), charge()]).toEqual([
    false,
    0,
    true,
    60,
    60,
  ])
  refund('olga')
  expect([charge(), charge()]).toEqual([0, 60])
})

test('the first event passes at any fraction of a second', () => {
  const { wait, charge } = counterAt({ burst: 1, step: 60 })
  for (let key = 0; key < 1000; key++) {
    wait(1.2345678 * key + key / 7)
    expect(charge(`user ${key}`)).toBe(0)
    expect(charge(`user ${key}`)).toBeCloseTo(60)
  }
})

test('of more than 50,000 keys the half that was charged first is forgotten', () => {
  const { charge, isSpent } = counterAt({ burst: 1, step: 60 })
  const isKnown = (n: number) => isSpent(`key ${n}`)
  for (let n = 1; n <= 50_000; n++) charge(`key ${n}`)
  expect([isKnown(1), isKnown(25_001), isKnown(50_000)]).toEqual([true, true, true])
  charge('one more')
  expect([isKnown(1), isKnown(25_001), isKnown(50_000)]).toEqual([false, true, true])
})

test('a rate of N in T lets N pass at once and then one each T/N, also multiplied; at least one in T', () => {
  expect(paceOf([20, 60], 1)).toEqual({ burst: 20, step: 3 })
  expect(paceOf([3, 3600], 1.5)).toEqual({ burst: 4, step: 800 })
  expect(paceOf([3, 3600], 1 / 1000)).toEqual({ burst: 1, step: 3600 })
})

/** How many pass at once, in an hour and in a day of trying every four minutes; 10,000: or more. */
const PASSING: Record<keyof Limits, number[]> = {
  knownClientMails: [1, 5, 19],
  codeMails: [1, 5, 59],
  networkCodes: [1, 1, 24],
  mailedNetworks: [1, 1, 1],
  wrongCodesOfMailed: [1, 1, 1],
  wrongCodes: [20, 20, 39],
  codeRequests: [10, 116, 1496],
  codeChecks: [20, 193, 2493],
  unknownCodeChecks: [20, 193, 2493],
  emailChanges: [5, 9, 29],
  accountDeletions: [5, 9, 29],
  downloads: [1, 1, 1],
  downloadTries: [5, 5, 9],
  downloadTickets: [1, 15, 360],
  usernameChanges: [3, 3, 5],
  reports: [30, 58, 748],
  searches: [5, 75, 1800],
  emailUndos: [20, 300, 7200],
  usernameChecks: [20, 300, 7200],
  refreshes: [150, 1830, 10_000],
  failedRefreshes: [600, 7320, 10_000],
  visitorCalls: [3000, 10_000, 10_000],
  pageFiles: [9000, 10_000, 10_000],
  userCalls: [1500, 10_000, 10_000],
  publications: [5, 75, 1800],
  newcomerPublications: [1, 15, 360],
  newcomerDays: [20, 20, 20],
  edits: [5, 75, 1800],
  likes: [300, 311, 599],
}

async function countPassing(limit: Limit): Promise<(number | undefined)[]> {
  let passed = 0
  const counts: number[] = []
  for (let time = 0; time < 360; time++) {
    while (passed < 10_000 && (await passes(limit.charge('olga')))) passed++
    counts.push(passed)
    vi.advanceTimersByTime(240_000)
  }
  return [counts[0], counts[14], counts[359]]
}

test('each limit lets so many pass, is counted apart from the others, and alone says why where people are told', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const names: string[] = []
  const limits = createLimits(1, (pace, name) => {
    names.push(name)
    return countInMemory(pace)
  })
  for (const name of names) expect(name).toMatch(/^[a-z-]+\/\d+$/)
  // Each is made for four widths of networks.
  expect(names).toHaveLength(4 * new Set(names).size)
  const passing: Record<string, unknown> = {}
  for (const [name, limit] of Object.entries(limits)) passing[name] = await countPassing(limit)
  expect(passing).toEqual(PASSING)
  const reasons = Object.values(limits).flatMap(({ reason = [] }) => reason)
  expect(reasons).toEqual(Array(5).fill(expect.stringMatching(/^[А-Я].*[а-я]$/)))
})

test('RATE_LIMIT_SCALE changes nothing about what is noted once a day or a minute, and then no sentence names a number', async () => {
  const limits = createLimits(10, (pace) => countInMemory(pace, () => 0))
  for (const limit of [limits.mailedNetworks, limits.downloadTickets]) {
    expect([await passes(limit.charge('olga')), await passes(limit.charge('olga'))]).toEqual([
      true,
      false,
    ])
  }
  expect(Object.values(limits).filter(({ reason }) => reason)).toEqual([])
})

test('a flood from the networks of an IPv6 /32 is refused by the /32, which is refused before any narrower network is remembered', async () => {
  const charged: string[] = []
  const limits = limitsOnStillClock((key) => charged.push(key))
  const tripped: unknown[] = []
  logTripped(limits, { warn: (...line: unknown[]) => tripped.push(line) })
  const call = (ip: string) => passes(limits.codeRequests.chargeNetwork(ip))
  let passed = 0
  for (let n = 0; n < 2000; n++) if (await call(`2001:db8:${n.toString(16)}::1`)) passed++
  expect(passed).toBe(768)
  // Two refused calls, by the minute and by the hour.
  expect(charged.slice(-4)).toEqual(Array(4).fill('2001:db8::/32'))
  const logged = (by: object) => [{ limit: 'codeRequests', ...by }, 'limit tripped']
  expect(tripped).toEqual([logged({ network: '2001:db8:300::1', within: '/32' })])
  expect(await call('2001:db9::1')).toBe(true)

  // Sixteen /64s of a /48 use it up. Whoever else comes from there is refused by the /48, before
  // their own network is counted.
  for (let n = 0; n < 48; n++) expect(await call(`2001:dba:1:${n}00::1`)).toBe(true)
  for (let n = 0; n < 48; n++) expect(await call(`2001:dba:1:f${n}::1`)).toBe(false)
  expect(tripped.slice(1)).toEqual([logged({ network: '2001:dba:1:f0::1', within: '/48' })])

  for (let n = 0; n < 4; n++) expect(await call('192.0.2.1')).toBe(n < 3)
  for (let n = 0; n < 4; n++) expect(await passes(limits.codeRequests.charge('olga'))).toBe(n < 3)
  expect(tripped.slice(2)).toEqual([logged({ network: '192.0.2.1' }), logged({ limitKey: 'olga' })])
})

test('one /64 that is refused uses up nothing of what its neighbours have', async () => {
  const { chargeNetwork: call } = limitsOnStillClock().codeRequests
  for (let n = 0; n < 3; n++) await call('2001:db8:1:1::1')
  for (let n = 0; n < 100; n++) await expect(call('2001:db8:1:1::1')).rejects.toThrow()
  for (let n = 0; n < 3; n++) await call('2001:db8:1:2::1')
})

test('the database counts as the memory does, whatever is charged, taken back and waited for', async () => {
  const { pool, wait } = await openLimitsTable()
  const act = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(1, 2 / 3).map((share) => ({ share })) },
    fc.constant('refund' as const),
    fc.integer({ min: 1, max: 90 }).map((minutes) => ({ minutes })),
  )
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 30 }), async (acts) => {
      const pace = { burst: 3, step: 1200 }
      const name = `run ${run++}`
      const [memory, database] = [counterAt(pace), countInDatabase(pool, pace, () => name)]
      let charged = 0
      for (const act of acts) {
        if (act === 'refund') {
          if (charged === 0) continue
          charged--
          await Promise.all([memory.refund('olga'), database.refund('')])
        } else if ('minutes' in act) {
          charged = 0
          memory.wait(act.minutes * 60)
          await wait(act.minutes * 60)
        } else {
          const expected = memory.charge('olga', act.share)
          const waited = await database.charge('', act.share)
          if (expected === 0) charged++
          expect(Math.abs(waited - expected)).toBeLessThan(10)
          expect(waited === 0).toBe(expected === 0)
        }
        expect(await database.isSpent('')).toBe(memory.isSpent('olga'))
      }
    }),
    { numRuns: 20 },
  )
})

test('of 30 events at once exactly ten pass, and a clock that goes back keeps nobody out', async () => {
  const { pool, wait } = await openLimitsTable()
  const counter = countInDatabase(pool, { burst: 10, step: 360 }, (key) => key)
  const waits = await atOnce(Array.from({ length: 30 }, () => async () => counter.charge('olga')))
  expect(waits.filter((seconds) => seconds === 0)).toHaveLength(10)
  expect(Math.max(...waits)).toBeLessThanOrEqual(360)
  // The count was written by a clock an hour ahead.
  await wait(-3600)
  expect(await counter.isSpent('olga')).toBe(false)
  expect(await counter.charge('olga')).toBe(0)
})

test('one event that was counted by a clock an hour ahead takes nothing of an hour’s share', async () => {
  const { pool, wait } = await openLimitsTable()
  const counter = countInDatabase(pool, { burst: 10, step: 360 }, (key) => key)
  expect(await counter.charge('mails', 3 / 4)).toBe(0)
  await wait(400)
  await wait(-3600)
  expect(await counter.charge('mails', 3 / 4)).toBe(0)
})

test('the database knows no key but by its keyed hash, and forgets it once it has its whole burst again', async () => {
  const { db, pool, wait } = await openLimitsTable()
  const { codeRequests } = createLimits(1, countHashed(pool, Buffer.alloc(32)))
  await codeRequests.charge('olga')
  await wait(30)
  const counted = () => db.selectFrom('rate_limits').select('key').orderBy('key').execute()
  const hashed = (name: string) => ({ key: expect.stringMatching(`^${name} [\\w-]{43}$`) })
  expect(await counted()).toEqual([hashed('code-request/3600'), hashed('code-request/60')])
  await removeExpiredLimits(db)
  expect(await counted()).toEqual([hashed('code-request/3600')])
})

test('an event that meets one counted at the same time, and is refused, waits for a step', async () => {
  const { db, pool } = await openLimitsTable()
  const counter = countInDatabase(pool, { burst: 1, step: 60 }, (key) => key)
  const { waiting } = await db.transaction().execute(async (tx) => {
    await sql`INSERT INTO rate_limits VALUES ('olga', now() + interval '1 minute')`.execute(tx)
    const waiting = counter.charge('olga')
    await expect.poll(() => lockWaits({ db })).toBe(1)
    return { waiting }
  })
  expect(await waiting).toBe(60)
})

test('a refusal comes once what was counted is taken back, and an error of the database at once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const chargeThen = (refund: () => Promise<void>, error: Error) =>
    chargeAll([
      [{ charge: async () => {}, refund }, 'olga'],
      [{ charge: () => Promise.reject(error), refund }, 'olga'],
    ])
  const outage = new Error('no database')
  await expect(chargeThen(() => Promise.reject(new Error('none')), outage)).rejects.toBe(outage)
  let isRefused = false
  const refused = chargeThen(() => promise, new AppError('TOO_MANY_REQUESTS')).catch(() => {
    isRefused = true
  })
  await setImmediate()
  expect(isRefused).toBe(false)
  resolve()
  await refused
})
