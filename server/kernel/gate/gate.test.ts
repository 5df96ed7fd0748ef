import { expect, onTestFinished, test, vi } from 'vitest'
import { Gate, type Leave } from './gate.ts'

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

test('one network cannot take all slots, nor all places of waiting tasks, and its waiting tasks do not delay others', async () => {
  const gate = new Gate({ running: 3, each: 2, waiting: 3, waitMs: 60_000 })
  const begun: string[] = []
  const enter = (network: string, name: string) => {
    const { promise, resolve } = Promise.withResolvers<Leave | null>()
    const giveUp = gate.enter({ network }, (leave) => {
      begun.push(name)
      resolve(leave)
    })
    return { giveUp, left: () => promise.then((leave) => leave?.()) }
  }
  const [first, , third] = ['a1', 'a2', 'a3', 'a4'].map((name) => enter('a', name))
  expect(await gate.run(async () => 'a5', 'a').catch(({ code }) => code)).toBe('UNAVAILABLE')
  const other = enter('b', 'b1')
  enter('c', 'c1')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await other.left()
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1', 'c1'])
  third?.giveUp()
  await first?.left()
  await expect.poll(() => begun.at(-1)).toBe('a4')
})

test('a slot is freed once, and the first request of a connection goes before later ones', async () => {
  const gate = new Gate({ running: 1, waiting: 10, waitMs: 60_000 })
  const leave = gate.tryEnter()
  const begun: string[] = []
  gate.enter({}, () => begun.push('later'))
  gate.enter({ isFirst: true }, () => begun.push('first'))
  leave?.()
  leave?.()
  await expect.poll(() => begun).toEqual(['first'])
})
