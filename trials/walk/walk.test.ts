import { expect } from 'vitest'
import { test } from '../../e2e/testing/journey.ts'
import { report, walk } from './walk.ts'

/**
 * Walks of a visitor, a person and a moderator, on a phone and on a wide screen, one after the other:
 * `MINUTES=10`, from the seed `HANDS`, by default another each time. A failed walk is repeated by
 * its own seed: `HANDS=<seed> MINUTES=0`.
 */
const MINUTES = Number(process.env.MINUTES ?? 10)
const FIRST_SEED = Number(process.env.HANDS ?? Date.now() % 1_000_000)
const STEPS = 80
/** The last walk is not cut off by the time, so that it can be repeated. */
const LAST_WALK_MINUTES = 5

const timeout = (MINUTES + LAST_WALK_MINUTES) * 60_000

test('nothing breaks, however people walk', { timeout }, async ({ site }) => {
  const end = performance.now() + MINUTES * 60_000
  const failed: string[] = []
  let seed = FIRST_SEED
  let steps = 0
  do {
    const walked = await walk(site, { seed, until: Number.POSITIVE_INFINITY, steps: STEPS })
    steps += walked.steps.length
    if (process.env.SHOW || walked.faults.length > 0) console.log(report(walked))
    if (walked.faults.length > 0) failed.push(`HANDS=${seed}: ${walked.faults}`)
    seed++
  } while (performance.now() < end)
  console.log(`${seed - FIRST_SEED} walks of ${steps} steps from HANDS=${FIRST_SEED}`)
  expect(failed).toEqual([])
})
