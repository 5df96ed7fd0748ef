import { expect, onTestFinished, test, vi } from 'vitest'
import { Gate, type Leave } from './gate.ts'

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
  const gate = new Gate({ running: 2, waiting: 2, waitMs: 60_000 })
  const log: string[] = []
  const all = ['a', 'b', 'c', 'd'].map((name) => held(name, log))
  const results = all.map(({ work }) => gate.run(work))
  await expect.poll(() => log).toEqual(['a', 'b'])
  all[1]?.end()
  await results[1]
  await expect.poll(() => log).toEqual(['a', 'b', 'c'])
  for (const { end } of all) end()
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd'])
  expect(log).toEqual(['a', 'b', 'c', 'd'])
})

test('when too many tasks wait, or after the wait, it is UNAVAILABLE; a task that fails lets the next one start', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const gate = new Gate({ running: 1, waiting: 1, waitMs: 50, message: 'Позже', retryAfter: 9 })
  const first = held('first', [])
  const atWork = gate.run(first.work)
  const waiting = gate.run(async () => 'too late').catch(({ code }) => code)
  await expect(gate.run(async () => 'no place')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'Позже',
    retryAfter: 9,
  })
  vi.advanceTimersByTime(50)
  expect(await waiting).toBe('UNAVAILABLE')
  const next = gate.run(async () => 'next')
  first.end()
  expect(await atWork).toBe('first')
  expect(await next).toBe('next')
  const failing = gate.run(() => Promise.reject(new Error('its own')))
  await expect(failing).rejects.toThrow('its own')
  await expect.poll(() => gate.isFull).toBe(false)
})

test('one network cannot take all slots, and its waiting tasks do not delay others', async () => {
  const gate = new Gate({ running: 3, each: 2, waiting: 10, waitMs: 60_000 })
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
