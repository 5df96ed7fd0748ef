import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import { atOnce } from '../../testing/at-once.ts'
import { freshDatabase } from '../../testing/databases.ts'
import { openDatabase } from '../db/database.ts'
import { countInDatabase } from './gcra.repository.ts'
import { countInMemory, type Pace } from './gcra.ts'
import { createLimits, paceOf } from './rate-limits.ts'

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
 * A limit on a clock that stands still: 3 calls for a /64, 12 for a /56, 48 for a /48, 768 for a
 * /32.
 */
function limitOfNetworks() {
  return createLimits(0.3, (pace) => countInMemory(pace, () => 0)).codeRequests
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
    wait: (seconds: number) =>
      sql`UPDATE rate_limits SET arrival = arrival - ${seconds} * interval '1 second'`.execute(db),
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

test('a flood from the networks of an IPv6 /32 is refused by the /32, which is refused before any narrower network is remembered', async () => {
  const limit = limitOfNetworks()
  const tripped: object[] = []
  limit.onTripped = (by) => tripped.push(by)
  const call = (ip: string) =>
    limit.chargeNetwork(ip).then(
      () => true,
      () => false,
    )
  let passed = 0
  for (let n = 0; n < 2000; n++) if (await call(`2001:db8:${n.toString(16)}::1`)) passed++
  expect(passed).toBe(768)
  expect(tripped).toEqual([{ network: '2001:db8:300::1', within: '/32' }])
  expect(await call('2001:db9::1')).toBe(true)

  // Sixteen /64s of a /48 use it up. Whoever else comes from there is refused by the /48, before
  // their own network is counted.
  for (let n = 0; n < 48; n++) expect(await call(`2001:dba:1:${n}00::1`)).toBe(true)
  for (let n = 0; n < 48; n++) expect(await call(`2001:dba:1:f${n}::1`)).toBe(false)
  expect(tripped.slice(1)).toEqual([{ network: '2001:dba:1:f0::1', within: '/48' }])
})

test('one /64 that is refused uses up nothing of what its neighbours have', async () => {
  const { chargeNetwork: call } = limitOfNetworks()
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
