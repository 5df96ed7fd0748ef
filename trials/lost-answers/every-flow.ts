import { expect } from 'vitest'
import { testWith } from '../../e2e/testing/journey.ts'
import { FLOWS } from './flows.ts'
import { runFlow } from './run-flow.ts'

/**
 * Runs what a person does in a browser again and again: undisturbed, and then with each fault of each
 * call. The person presses what the page offers, the same button again or, at last, reloads. In the
 * end the rows, the page and the announced words must be those of the undisturbed run.
 */

/** Runs some flows or faults alone, such as `FLOWS='^like' CALLS='^drop POST'`. */
const flows = new RegExp(process.env.FLOWS ?? '')
const calls = new RegExp(process.env.CALLS ?? '')
if (!FLOWS.some(({ name }) => flows.test(name))) throw new Error(`FLOWS matches no flow: ${flows}`)

/** Hundreds of runs would meet the limits of one person. */
const test = testWith({ RATE_LIMIT_SCALE: '100000' })

/** Declares the tests of every other flow: two files share them, each with a product of its own. */
export function testEveryOtherFlow(start: 0 | 1): void {
  const chosen = FLOWS.filter((_, at) => at % 2 === start).filter(({ name }) => flows.test(name))
  // Vitest fails a file that has no test.
  if (chosen.length === 0) test.skip('no flow of this half', () => {})
  test.for(chosen)('$name', { timeout: 1_800_000 }, async (flow, { journey }) => {
    const isChosen = (it: { fault: string; call: string }) => calls.test(`${it.fault} ${it.call}`)
    const { calls: made, runs, faults, resorts } = await runFlow(journey, flow, isChosen)
    const lines = [
      `${flow.name}: ${made.length} calls, ${runs} faults of them, ${faults.length} bad ends`,
      ...resorts.map((one) => `  the person did: ${one}`),
      ...faults.map((one) => `  BAD ${one}`),
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
    expect(faults.length, 'bad ends printed above').toBe(0)
  })
}
