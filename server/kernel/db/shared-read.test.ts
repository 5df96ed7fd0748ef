import { expect, test } from 'vitest'
import { SharedRead } from './shared-read.ts'

test('calls of one turn share a read, in order; if it fails, each of them fails, and the next call reads again', async () => {
  const reads: number[][] = []
  const shared = new SharedRead(async (items: number[]) => {
    reads.push(items)
    if (items.includes(0)) throw new Error('division by zero')
    return items.map((item) => 6 / item)
  })
  expect(await Promise.all([1, 2, 3].map((item) => shared.call(item)))).toEqual([6, 3, 2])
  const failed = await Promise.allSettled([0, 1].map((item) => shared.call(item)))
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await shared.call(6)).toBe(1)
  expect(reads).toEqual([[1, 2, 3], [0, 1], [6]])
})
