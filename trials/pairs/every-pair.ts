import { afterAll, expect, test } from 'vitest'
import { buildWall, runPair, type Wall } from './run-pair.ts'
import { PAIRS } from './writes.ts'

/**
 * Runs every pair of writes on the same rows in all orders of their statements whose result may
 * differ. PostgreSQL tests its isolation levels likewise (isolationtester).
 *
 * Two nodes work on one database, and each runs one call. Each statement is held (held-postgres.ts)
 * until the schedule passes it (schedules.ts). The database shows what each statement has used
 * (effects.ts): two orders have one result if they differ only in statements without an effect on
 * each other, such as two reads. Jobs stand still; the pairs contain their work as calls.
 *
 * Afterwards the answers and all rows, without new ids, times and secrets, must equal those of the
 * two calls one after the other, in either order; if a call has several transactions, also those of
 * the other call between two of them.
 */

/** Few pairs have more; of these, the orders with the most switches are left. */
const MOST = Number(process.env.ORDERS_MAX ?? 300)

/** Runs some pairs alone, such as `PAIRS='^like ×'`. */
const only = new RegExp(process.env.PAIRS ?? '')
if (!PAIRS.some(({ name }) => only.test(name))) throw new Error(`PAIRS matches no pair: ${only}`)

/** Declares the tests of every other pair: two files share them, so that each keeps a core busy. */
export function testEveryOtherPair(start: 0 | 1): void {
  const cases = PAIRS.filter((_, at) => at % 2 === start)

  const walls: Wall[] = []
  afterAll(async () => {
    for (const { lab } of walls) await lab.close()
  })

  /** A write whose preparation fails is refused in every order, and would pass. */
  const succeeded = new Set<string>()
  let ran = 0
  let total = 0
  afterAll(() => {
    process.stdout.write(`${ran} pairs in ${total} orders\n`)
    if (ran < cases.length) return
    const names = new Set(cases.flatMap(({ writes }) => writes.map(({ name }) => name)))
    const refused = [...names].filter((name) => !succeeded.has(name))
    // A wrong code is refused whatever happens.
    expect(refused, 'writes that succeeded in no pair here').toEqual(['guess a code'])
  })

  const chosen = cases.filter(({ name }) => only.test(name))
  // Vitest fails a file that has no test.
  if (chosen.length === 0) test.skip('no pair of this half', () => {})
  test.concurrent.for(chosen)(
    '$name: as one after the other',
    { timeout: 1_800_000 },
    async (pair, { expect }) => {
      const wall = walls.pop() ?? (await buildWall())
      const running = runPair(wall, pair, MOST)
      const { orders, left, statuses, faults } = await running.finally(() => walls.push(wall))
      ran++
      total += orders
      for (const both of statuses) {
        for (const [at, status] of both.split('+').entries()) {
          if (status.startsWith('2')) succeeded.add(pair.writes[at]?.name ?? '')
        }
      }
      const which = left === 0 ? 'all' : `at least ${left} are left`
      process.stdout.write(
        `${pair.name}: ${orders} orders (${which}), ${statuses.join(' or ')}: ${faults.join('\n\n') || 'ok'}\n`,
      )
      // A token of a wrong key would be refused in every order, and pass.
      expect(statuses).not.toContain('401+401')
      expect(faults.length, 'faults printed above').toBe(0)
    },
  )
}
