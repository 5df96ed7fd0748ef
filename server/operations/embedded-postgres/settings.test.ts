import { totalmem } from 'node:os'
import { expect, test } from 'vitest'
import { sharedBuffers, usableMemory } from './postmaster.ts'

const GIB = 1024 ** 3

test.each([
  [0.25, 64],
  [1, 128],
  [2, 256],
  [4, 512],
  [64, 512],
])('on a machine with %d GiB PostgreSQL has %d MiB of shared buffers', (gib, mib) => {
  expect(sharedBuffers(gib * GIB)).toBe(mib)
})

test('the usable memory is positive and at most that of the machine', () => {
  expect(usableMemory()).toBeLessThanOrEqual(totalmem())
  expect(usableMemory()).toBeGreaterThan(0)
})
