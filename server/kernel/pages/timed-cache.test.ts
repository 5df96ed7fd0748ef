import { expect, test } from 'vitest'
import { createTimedCache } from './timed-cache.ts'

function cacheAt() {
  const time = { now: 0 }
  const made: string[] = []
  const cached = createTimedCache<string>({
    maxAgeMs: 1000,
    maxEntries: 2,
    clock: () => time.now,
  })
  const read = (key: string) =>
    cached(key, async () => {
      made.push(key)
      return `${key} at ${time.now}`
    })
  return { time, made, cached, read }
}

test('a value is made once for all who ask, and again when it is too old', async () => {
  const { time, made, read } = cacheAt()
  expect(await Promise.all([read('a'), read('a')])).toEqual(['a at 0', 'a at 0'])
  time.now = 1000
  expect(await read('a')).toBe('a at 0')
  time.now = 1001
  expect(await read('a')).toBe('a at 1001')
  expect(made).toEqual(['a', 'a'])
})

test('the oldest value goes where there are too many', async () => {
  const { made, read } = cacheAt()
  for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await read(key)
  expect(made).toEqual(['a', 'b', 'c', 'a'])
})

test('what could not be made is tried again', async () => {
  const { cached, read } = cacheAt()
  await expect(cached('a', () => Promise.reject(new Error('no database')))).rejects.toThrow(
    'no database',
  )
  expect(await read('a')).toBe('a at 0')
})
