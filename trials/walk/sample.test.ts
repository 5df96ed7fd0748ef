import { expect } from 'vitest'
import { test } from '../../e2e/testing/journey.ts'
import { report, walk } from './walk.ts'

const SEED = Number(process.env.HANDS ?? 8)
const MS = 8000

/** A few steps of `npm run test:walk`. */
test('nothing breaks on a short walk', async ({ site }) => {
  const walked = await walk(site, { seed: SEED, until: performance.now() + MS, steps: 40 })
  expect(walked.faults, report(walked)).toEqual([])
})
