import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { BatchedCalls } from './batch-calls.ts'

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
