import { AssertionError } from 'node:assert'
import { type Node, openLab } from './lab.ts'
import {
  afterAuthentication,
  betweenTransactions,
  inOrders,
  namesOf,
  type Side,
  type Sides,
} from './schedules.ts'
import { createNormalizer } from './stored-state.ts'
import { type Answer, makeWorld, type Write } from './world.ts'
import type { Pair } from './writes.ts'

export type Wall = Awaited<ReturnType<typeof buildWall>>

/** Opens a lab with the people and posts that all pairs begin with. */
export async function buildWall() {
  const lab = await openLab()
  const world = await makeWorld(lab.app)
  // Reports of accounts under a day old hide nothing. Each table gets its own range of ids.
  await lab.execute(`UPDATE users SET created_at = created_at - interval '2 days';
    UPDATE moderator_mails SET mailed_at = now() - interval '2 hours';
    SELECT setval(format('%I.%I', schemaname, sequencename)::regclass,
      1000000 * row_number() OVER (ORDER BY sequencename))
    FROM pg_sequences WHERE schemaname = 'public'`)
  return { lab, world, base: await lab.read() }
}

/**
 * Runs the first write on one node, and the second on the other, in at most so many orders. Returns
 * how many it ran, how many at least are left, the statuses of the two serial orders,
 * and each result that no serial order has.
 */
export async function runPair({ lab, world, base }: Wall, { writes }: Pair, most: number) {
  const { app, nodes, isBlocked } = lab
  // Removes the rows of a failed pair, and the log of earlier pairs.
  lab.takeLog()
  await lab.read()
  await lab.restore(base)
  const ids = new Map<Write, unknown>()
  for (const write of new Set(writes)) ids.set(write, await write.prepare?.(app, world))
  const before = await lab.read()
  const { normal, changes } = createNormalizer(before)

  const sideOf = (side: 'A' | 'B', { app, postgres }: Node, write: Write): Side => ({
    postgres,
    call: () => write.call({ app, world, side, id: String(ids.get(write)) }),
  })
  const sides: Sides = [sideOf('A', nodes[0], writes[0]), sideOf('B', nodes[1], writes[1])]
  async function begin() {
    await lab.restore(before)
    return sides
  }

  const faults: string[] = []
  async function readResult(answers: readonly Answer[], order: string): Promise<Result> {
    for (const { status, body } of answers) {
      if (status < 500) continue
      const answered = `answered ${status}: ${JSON.stringify(body)}`
      faults.push([order, answered, ...lab.takeLog()].join('\n'))
    }
    return {
      answers: answers.map(({ status, body }) => JSON.stringify({ status, body: normal(body) })),
      rows: changes(await lab.read()),
    }
  }
  /** Also checks the counters, because other orders are compared with this one. */
  async function readExpected(answers: readonly Answer[], order: string): Promise<Result> {
    const result = await readResult(answers, order)
    const found = await lab.findFaults([world.olga, world.petr, world.anna])
    if (found.length > 0) faults.push([order, ...found].join('\n'))
    return result
  }
  async function serially(order: [0, 1] | [1, 0]): Promise<Result & { statuses: string }> {
    await begin()
    const answers: Answer[] = []
    for (const at of order) answers[at] = await sides[at].call()
    const result = await readExpected(answers, order.map((at) => 'AB'[at]).join(', '))
    return { ...result, statuses: answers.map(({ status }) => status).join('+') }
  }

  const serial = [await serially([0, 1]), await serially([1, 0])]
  const expected: Result[] = [...serial]
  for (const at of [0, 1] as const) {
    if (serial.some(({ answers }) => answers[at]?.includes(UNAUTHORIZED))) {
      const run = await afterAuthentication(begin, { isBlocked, caller: at })
      expected.push(await readExpected(run.answers, namesOf(run.steps)))
    }
    if (!writes[at].isInSteps) continue
    await betweenTransactions(begin, { isBlocked, stepwise: at }, async (run) => {
      expected.push(await readExpected(run.answers, namesOf(run.steps)))
    })
  }
  const { count, left } = await inOrders(begin, { isBlocked, most }, async (run) => {
    const order = namesOf(run.steps)
    const result = await readResult(run.answers, order)
    if (expected.some((one) => isAs(one, result, expected))) return
    expected.push(result)
    faults.push(`${order}\n${compare(result, serial)}`)
  })
  return { orders: count, left, statuses: serial.map((one) => one.statuses), faults }
}

const UNAUTHORIZED = '"UNAUTHORIZED"'

type Result = { answers: string[]; rows: Record<string, readonly string[]> }

/**
 * Whether a result equals a serial one. If one call closes the session of the other after it was
 * checked, the other is not UNAUTHORIZED as it would be later: if the rows are equal, it may be
 * refused otherwise, or answered as in another serial order.
 */
function isAs(one: Result, { answers, rows }: Result, expected: Result[]): boolean {
  if (JSON.stringify(one.rows) !== JSON.stringify(rows)) return false
  return answers.every((answer, at) => {
    const wanted = one.answers[at] ?? ''
    if (answer === wanted) return true
    if (!wanted.includes(UNAUTHORIZED)) return false
    return (
      answer.startsWith('{"status":4') || expected.some((other) => other.answers[at] === answer)
    )
  })
}

function compare(actual: Result, serial: Result[]): string {
  const differences = serial.map(({ answers, rows }, at) => {
    const expected = { answers, rows }
    const { message } = new AssertionError({ actual, expected, operator: 'deepStrictEqual' })
    return `not as ${['A, B', 'B, A'][at]}: ${message}`
  })
  return differences.join('\n')
}
