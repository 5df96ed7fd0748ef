import { expect, test } from 'vitest'
import { batchCalls } from './batch-calls.ts'
import { addQueryTime, measureQuery } from './database-client.ts'

test('the time of a shared query counts for the first of its calls, not for one that was answered before', async () => {
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const call = batchCalls(async (items: number[]) => {
    const end = measureQuery()
    await arrived[items[0] ?? 0]?.promise
    end?.()
    return items
  })
  const times = [{ ms: 0 }, { ms: 0 }, { ms: 0 }]
  const calls = times.map((time, n) => addQueryTime(time, () => call(n)))
  arrived[0]?.resolve()
  await calls[0]
  const first = times[0]?.ms
  arrived[1]?.resolve()
  await Promise.all(calls)
  expect(times.map(({ ms }) => ms > 0)).toEqual([true, true, false])
  expect(times[0]?.ms).toBe(first)
})
