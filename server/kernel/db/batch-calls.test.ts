import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { BatchedCalls } from './batch-calls.ts'

test('calls during a run share the next one, which begins before those of the run before go on', async () => {
  const events: string[] = []
  const answered = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const batch = new BatchedCalls(async (items: string[]) => {
    const runs = events.push(`run ${items.join()}`)
    await answered[runs - 1]?.promise
    return items
  })
  const call = (item: string) => batch.call(item).then(() => events.push(item))
  const calls = [call('a')]
  await turn()
  calls.push(call('b'), call('c'))
  answered[0]?.resolve()
  await calls[0]
  expect(events).toEqual(['run a', 'run b,c', 'a'])
  answered[1]?.resolve()
  await Promise.all(calls)
  expect(events.slice(3)).toEqual(['b', 'c'])
})

test('calls of one turn of the event loop share a run, also those made in promises', async () => {
  const runs: string[][] = []
  const batch = new BatchedCalls(async (items: string[]) => {
    runs.push(items)
    return items.map((item) => item.toUpperCase())
  })
  const later = Promise.resolve().then(() => batch.call('c'))
  expect(await Promise.all([batch.call('a'), batch.call('b'), later])).toEqual(['A', 'B', 'C'])
  expect(await batch.call('d')).toBe('D')
  expect(runs).toEqual([['a', 'b', 'c'], ['d']])
})

test('each item of a run that PostgreSQL refuses is tried alone, and the next run does not wait for it', async () => {
  const runs: string[] = []
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const lock = Promise.withResolvers<void>()
  const batch = new BatchedCalls(
    async (items: string[], isAlone) => {
      const count = runs.push(`${items.join()}${isAlone ? ' alone' : ''}`)
      await gates[count - 1]?.promise
      if (isAlone && items.includes('bad')) await lock.promise
      if (items.includes('bad')) throw new pg.DatabaseError('refused', 7, 'error')
      return items
    },
    { failsAlone: true },
  )
  const first = batch.call('first')
  await turn()
  const [good, bad] = [batch.call('good'), batch.call('bad')]
  gates[0]?.resolve()
  await first
  const next = batch.call('next')
  gates[1]?.resolve()
  expect(await Promise.all([next, good])).toEqual(['next', 'good'])
  lock.resolve()
  await expect(bad).rejects.toThrow('refused')
  expect(runs).toEqual(['first', 'good,bad', 'next', 'good alone', 'bad alone'])
})
