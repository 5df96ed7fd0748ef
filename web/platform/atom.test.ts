import { expect, test, vi } from 'vitest'
import { createEmitter } from './atom.ts'

test('every listener is called with every event until it unsubscribes', () => {
  const event = createEmitter<string>()
  const [first, second] = [vi.fn(), vi.fn()]
  const unsubscribe = event.subscribe(first)
  event.subscribe(second)
  event.emit('a')
  unsubscribe()
  event.emit('b')
  expect(first.mock.calls).toEqual([['a']])
  expect(second.mock.calls).toEqual([['a'], ['b']])
})

test('an emitter is connected only while it has listeners', () => {
  const log: string[] = []
  const event = createEmitter(() => {
    log.push('connect')
    return () => log.push('disconnect')
  })
  const stops = [event.subscribe(vi.fn()), event.subscribe(vi.fn())]
  expect(log).toEqual(['connect'])
  for (const stop of [...stops, ...stops]) stop()
  expect(log).toEqual(['connect', 'disconnect'])
  event.subscribe(vi.fn())
  expect(log).toEqual(['connect', 'disconnect', 'connect'])
})
