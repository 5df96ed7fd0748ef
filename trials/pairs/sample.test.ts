import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLab } from './lab.ts'
import { buildWall, runPair, type Wall } from './run-pair.ts'
import { findPair } from './writes.ts'

let wall: Wall
beforeAll(async () => {
  wall = await buildWall(await openLab())
})
afterAll(() => wall.lab.close())

/** A few orders of a few pairs of `npm run test:pairs`. */
test.for([
  ['like', 'unlike'],
  ['reply', 'delete'],
  ['reply', 'edit'],
  ['publish with a key', 'publish with a key'],
] as const)('%s × %s: as one after the other, in some orders', async ([first, second]) => {
  const { faults } = await runPair(wall, findPair(first, second), { most: 20 })
  expect(faults).toEqual([])
})
