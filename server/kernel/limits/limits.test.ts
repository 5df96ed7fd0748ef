import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openDatabaseForTest } from '../../testing/database/database-for-test.ts'
import { passLimitTime } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import { removeExpiredLimits } from './limits.repository.ts'
import {
  type Charge,
  formatWait,
  type Limit,
  Limits,
  networkOf,
  type Trip,
  widestNetworkOf,
} from './limits.ts'

const limitOf = (rates: Limit['rates'], changes: Partial<Limit> = {}): Limit => ({
  name: 'test',
  rates,
  refusal: 'Хватит: следующий — через {time}',
  ...changes,
})

/** Limits on a database and on a clock that the test moves; local ones need no database. */
async function openLimits({ scale = 1, start = 1000 } = {}) {
  let seconds = start
  const tripped: Trip[] = []
  const { db } = await openDatabaseForTest()
  const limits = new Limits({
    db,
    scale,
    hashKey: Buffer.alloc(32),
    onTrip: (by) => tripped.push(by),
    now: () => seconds,
  })
  return {
    charge: limits.charge.bind(limits),
    left: async (charge: Charge) => (await limits.countLeft([charge]))[0],
    refund: limits.refund.bind(limits),
    db,
    tripped,
    async wait(more: number) {
      seconds += more
      await passLimitTime({ db }, more)
    },
    /** Returns the seconds to wait, 0 when it was counted. */
    async take(...charges: Charge[]) {
      return (await limits.tryCharge(charges))?.wait ?? 0
    },
  }
}

test('five pass at once, and each 500 seconds one more', async () => {
  const { take, wait } = await openLimits()
  const limit = limitOf([[5, 2500]])
  const charge = () => take({ limit, key: 'olga' })
  for (let event = 0; event < 5; event++) expect(await charge()).toBe(0)
  expect(await charge()).toBe(500)
  await wait(500)
  expect(await charge()).toBe(0)
  expect(await charge()).toBe(500)
  expect(await take({ limit, key: 'petr' })).toBe(0)
})

test('a wait has no rounding error of the clock', async () => {
  // Forty steps of a second cross 128, above which the sum has one bit less behind its point.
  const { take } = await openLimits({ start: 101.04756464844154 })
  const charge = { limit: limitOf([[40, 40]]), key: 'olga' }
  for (let event = 0; event < 40; event++) expect(await take(charge)).toBe(0)
  expect(await take(charge)).toBe(1)
})

test('RATE_LIMIT_SCALE multiplies what is not fixed; at least one event passes', async () => {
  const { take } = await openLimits({ scale: 2 })
  const count = async (limit: Limit) => {
    let passed = 0
    while ((await take({ limit, key: limit.name })) === 0) passed++
    return passed
  }
  expect(await count(limitOf([[3, 60]], { name: 'a' }))).toBe(6)
  expect(await count(limitOf([[3, 60]], { name: 'b', isFixed: true }))).toBe(3)
  expect(await count(limitOf([[0.1, 60]], { name: 'c' }))).toBe(1)
})

test('several limits are charged in one statement, all or none, and the longest wait says why', async () => {
  const { take, charge, refund, left, db } = await openLimits()
  const wide = limitOf([[9, 90]], { name: 'wide' })
  const day = limitOf([[2, 86_400]], { name: 'day', isShared: true, refusal: 'Мало: {time}' })
  const hour = limitOf([[1, 3600]], { name: 'hour', isShared: true })
  const both = [wide, day, hour].map((limit) => ({ limit, key: 'olga' }))
  expect(await take(...both)).toBe(0)
  for (let event = 0; event < 20; event++) {
    await expect(charge(both)).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      message: expect.stringMatching(/^Хватит: следующий — через (1 ч|59:5\d)$/),
    })
  }
  for (let event = 0; event < 8; event++) expect(await take({ limit: wide, key: 'olga' })).toBe(0)
  expect(await take({ limit: day, key: 'olga' })).toBe(0)
  await expect(charge(both.slice(1))).rejects.toMatchObject({
    message: expect.stringMatching(/^Мало: (12 ч|11 ч 60 мин)$/),
  })
  expect(await left({ limit: day, key: 'olga' })).toBe(0)
  await refund(Array(2).fill({ limit: day, key: 'olga' }))
  expect(await left({ limit: day, key: 'olga' })).toBe(2)
  expect(await db.selectFrom('rate_limits').select('key').execute()).toHaveLength(2)
})

test('exactly ten of 30 events of several keys at once pass', async () => {
  const { take } = await openLimits()
  const charges = [10, 20].map((count) => ({
    limit: limitOf([[count, 36_000]], { name: `of ${count}`, isShared: true }),
    key: 'olga',
  }))
  const turns = Array.from(
    { length: 30 },
    (_, n) => () => take(...(n % 2 ? charges : charges.toReversed())),
  )
  expect((await atOnce(turns)).filter((wait) => wait === 0)).toHaveLength(10)
})

test('limits in the database and in memory agree after any charges, refunds and waits', async () => {
  const { take, refund, wait } = await openLimits()
  const act = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(1, 2 / 3).map((share) => ({ share })) },
    fc.constant('refund' as const),
    fc.integer({ min: 1, max: 90 }).map((minutes) => ({ minutes })),
  )
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 30 }), async (acts) => {
      const key = `run ${run++}`
      const memory = { limit: limitOf([[3, 3600]]), key }
      const database = { limit: limitOf([[3, 3600]], { isShared: true }), key }
      let charged = 0
      for (const act of acts) {
        if (act === 'refund') {
          if (charged === 0) continue
          charged--
          await refund([memory, database])
        } else if ('minutes' in act) {
          charged = 0
          await wait(act.minutes * 60)
        } else {
          const expected = await take({ ...memory, ...act })
          const waited = await take({ ...database, ...act })
          if (expected === 0) charged++
          expect(Math.abs(waited - expected)).toBeLessThan(10)
          expect(waited === 0).toBe(expected === 0)
        }
      }
    }),
    { numRuns: 20 },
  )
})

test('a flood from the networks of an IPv6 /32 is refused by the /32, and a refused network costs its neighbours nothing', async () => {
  const { take, tripped } = await openLimits()
  const limit = limitOf([[3, 30]])
  const call = (ip: string) => take({ limit, ip })
  let passed = 0
  for (let n = 0; n < 2000; n++) {
    if ((await call(`2001:db8:${n.toString(16)}::1`)) === 0) passed++
  }
  expect(passed).toBe(768)
  expect(tripped).toEqual([{ limit: 'test', network: '2001:db8:300::1', within: '/32' }])
  for (let n = 0; n < 100; n++) expect((await call('2001:db9:1:1::1')) === 0).toBe(n < 3)
  for (let n = 0; n < 3; n++) expect(await call('2001:db9:1:2::1')).toBe(0)
  for (let n = 0; n < 4; n++) expect((await call('192.0.2.1')) === 0).toBe(n < 3)
  expect(tripped.at(-1)).toEqual({ limit: 'test', network: '192.0.2.1' })
})

test('one IPv6 /56 has four times the limit of a /64, a /48 sixteen times, and none affects the next', async () => {
  const { take } = await openLimits()
  const limit = limitOf([[1, 60]])
  const passed = async (count: number, ip: (n: number) => string) => {
    const takes = Array.from({ length: count }, (_, n) => take({ limit, ip: ip(n) }))
    return (await Promise.all(takes)).filter((wait) => wait === 0).length
  }
  expect(await passed(99, (n) => `2001:db8:1:${n}::1`)).toBe(4)
  expect(await passed(99, (n) => `2001:db8:1:${n + 1}00::1`)).toBe(12)
  expect(await passed(1, () => '2001:db8:2::1')).toBe(1)
})

test('of more than 50,000 keys the one that is unused for longest is forgotten', async () => {
  const { take, left } = await openLimits()
  const limit = limitOf([[1, 60]])
  const isKnown = async (n: number) => (await left({ limit, key: `${n}` })) === 0
  for (let n = 1; n <= 50_000; n++) await take({ limit, key: `${n}` })
  expect(await Promise.all([1, 50_000].map(isKnown))).toEqual([true, true])
  await take({ limit, key: 'one more' })
  expect(await Promise.all([1, 2, 50_000].map(isKnown))).toEqual([true, false, true])
})

test('the database stores keys as keyed hashes, until their burst is whole again', async () => {
  const { take, wait, db } = await openLimits()
  const rates = [60, 3600].map((seconds) => [1, seconds] as const)
  const limit = limitOf(rates, { name: 'code', isShared: true })
  await take({ limit, key: 'olga' })
  await wait(90)
  const counted = () => db.selectFrom('rate_limits').select('key').orderBy('key').execute()
  const hashed = (name: string) => ({ key: expect.stringMatching(`^${name} [\\w-]{43}$`) })
  expect(await counted()).toEqual([hashed('code/3600'), hashed('code/60')])
  await removeExpiredLimits(db)
  expect(await counted()).toEqual([hashed('code/3600')])
})

test('a wait is shown in minutes and seconds, and from an hour on in hours and minutes', () => {
  const waits = [0.2, 44.5, 3599, 3600, 26_000].map(formatWait)
  expect(waits.join(', ')).toBe('0:01, 0:45, 59:59, 1 ч, 7 ч 14 мин')
})

test.each([
  ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64', '2001:db8:1:0::/48'],
  ['2001:0DB8:0001:0002:ffff:0:0:1', '2001:db8:1:2::/64', '2001:db8:1:0::/48'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0:0::/48'],
  ['::1', '0:0:0:0::/64', '0:0:0:0::/48'],
  ['::ffff:0:192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['64:ff9b::192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['64:ff9b::c000:201', '192.0.2.1', '192.0.2.1'],
  ['64:ff9b:1:2:3:4:192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['2002:c000:201::1', '192.0.2.1', '192.0.2.1'],
  ['2002:c000:0201:5:6:7:8:9', '192.0.2.1', '192.0.2.1'],
  ['64:ff9b:2::192.0.2.1', '64:ff9b:2:0::/64', '64:ff9b:2:0::/48'],
  ...[undefined, 'a'.repeat(400), '1:2:3', '1.2.3.4.5'].map((ip) => [ip, 'unknown', 'unknown']),
])('%s is counted as %s, and the widest network of its subscriber is %s', (ip, network, widest) => {
  expect([networkOf(ip), widestNetworkOf(ip)]).toEqual([network, widest])
})
