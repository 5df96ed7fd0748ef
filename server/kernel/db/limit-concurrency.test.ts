import { expect, test } from 'vitest'
import { limitConcurrency } from './limit-concurrency.ts'

/** A task that runs until `end` is called. */
function held(name: string, log: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = async () => {
    log.push(name)
    await promise
    return name
  }
  return { work, end: resolve }
}

test('the third task waits until one of two is done, and the others start in their order', async () => {
  const limited = limitConcurrency({ running: 2, waiting: 2, waitMs: 60_000, message: '' })
  const log: string[] = []
  const all = ['a', 'b', 'c', 'd'].map((name) => held(name, log))
  const results = all.map(({ work }) => limited(work))
  await expect.poll(() => log).toEqual(['a', 'b'])
  all[1]?.end()
  await results[1]
  await expect.poll(() => log).toEqual(['a', 'b', 'c'])
  for (const { end } of all) end()
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd'])
  expect(log).toEqual(['a', 'b', 'c', 'd'])
})

test('when too many tasks wait, or after the wait, it is UNAVAILABLE; a task that fails lets the next one start', async () => {
  const limited = limitConcurrency({ running: 1, waiting: 1, waitMs: 50, message: '' })
  const first = held('first', [])
  const atWork = limited(first.work)
  const waiting = limited(async () => 'too late').catch(({ code }) => code)
  await expect(limited(async () => 'no place')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(await waiting).toBe('UNAVAILABLE')
  first.end()
  expect(await atWork).toBe('first')
  await expect(limited(() => Promise.reject(new Error('its own')))).rejects.toThrow('its own')
  expect(await limited(async () => 'next')).toBe('next')
})
