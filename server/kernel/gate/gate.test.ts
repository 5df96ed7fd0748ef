import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Gate } from './gate.ts'

test('when too many tasks wait, or after the wait, it is UNAVAILABLE; a task that fails lets the next one start', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const gate = new Gate({ running: 1, waiting: 1, waitMs: 50, message: 'Позже', retryAfter: 9 })
  const { promise: held, resolve: end } = Promise.withResolvers<string>()
  const atWork = gate.run(() => held)
  const waiting = gate.run(async () => 'too late').catch(({ code }) => code)
  const refusal = { code: 'UNAVAILABLE', message: 'Позже', retryAfter: 9 }
  await expect(gate.run(async () => 'no place')).rejects.toMatchObject(refusal)
  vi.advanceTimersByTime(50)
  expect(await waiting).toBe('UNAVAILABLE')
  const next = gate.run(async () => 'next')
  end('first')
  expect(await Promise.all([atWork, next])).toEqual(['first', 'next'])
  const failing = gate.run(() => Promise.reject(new Error('its own')))
  await expect(failing).rejects.toThrow('its own')
  expect(await gate.run(async () => 'after it')).toBe('after it')
})

/** A gate, and the names of the tasks that it admitted, in their order. */
function gateWithLog(bounds: ConstructorParameters<typeof Gate>[0]) {
  const gate = new Gate(bounds)
  const begun: string[] = []
  const take = async (network: string, name: string, wait: Parameters<Gate['acquire']>[1] = {}) => {
    const slot = await gate.acquire(network, wait)
    if (slot) begun.push(name)
    return slot
  }
  return { gate, begun, take }
}

test('one network cannot take all slots, nor all places of waiting tasks, and its waiting tasks do not delay others', async () => {
  const { gate, begun, take } = gateWithLog({ running: 3, each: 2, waiting: 3, waitMs: 60_000 })
  const gone = new AbortController()
  const first = take('a', 'a1')
  void take('a', 'a2')
  const third = take('a', 'a3', { signal: gone.signal })
  void take('a', 'a4')
  expect(await gate.run(async () => 'a5', 'a').catch(({ code }) => code)).toBe('UNAVAILABLE')
  const other = take('b', 'b1')
  void take('c', 'c1')
  await setImmediate()
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  ;(await other)?.release()
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1', 'c1'])
  gone.abort()
  expect(await third).toBeNull()
  ;(await first)?.release()
  await expect.poll(() => begun.at(-1)).toBe('a4')
})

test('a slot is freed once, and the first request of a connection goes before later ones', async () => {
  const { gate, begun, take } = gateWithLog({ running: 1, waiting: 10, waitMs: 60_000 })
  const slot = gate.tryAcquire()
  void take('', 'later')
  void take('', 'first', { isFirst: true })
  slot?.release()
  slot?.release()
  await expect.poll(() => begun).toEqual(['first'])
  await setImmediate()
  expect(begun).toEqual(['first'])
})

test('a task whose caller gave up before it waits takes no slot', async () => {
  const { gate, take } = gateWithLog({ running: 1, waiting: 1, waitMs: 60_000 })
  const slot = gate.tryAcquire()
  expect(await take('', 'gone', { signal: AbortSignal.abort() })).toBeNull()
  slot?.release()
  await setImmediate()
  expect(gate.tryAcquire()).not.toBeNull()
})
