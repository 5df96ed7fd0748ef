import { expect, onTestFinished, test, vi } from 'vitest'

const { withResolvers } = Promise
const { any } = AbortSignal

async function takeAway(): Promise<void> {
  onTestFinished(() => void Object.assign(Promise, { withResolvers }))
  onTestFinished(() => void Object.assign(AbortSignal, { any }))
  onTestFinished(() => void Reflect.deleteProperty(globalThis, 'HTMLElement'))
  Reflect.deleteProperty(Promise, 'withResolvers')
  Reflect.deleteProperty(AbortSignal, 'any')
  Object.assign(globalThis, { HTMLElement: class {} })
  vi.resetModules()
  await import('./missing-functions.ts')
}

test('a promise can be settled from outside', async () => {
  await takeAway()
  const one = Promise.withResolvers<number>()
  one.resolve(1)
  expect(await one.promise).toBe(1)
  const other = Promise.withResolvers()
  other.reject(new Error('no'))
  await expect(other.promise).rejects.toThrow('no')
})

test('a combined signal is aborted with the first of its signals, and with its reason', async () => {
  await takeAway()
  const [one, other] = [new AbortController(), new AbortController()]
  const signal = AbortSignal.any([one.signal, other.signal])
  expect(signal.aborted).toBe(false)
  other.abort('why')
  one.abort('later')
  expect([signal.aborted, signal.reason]).toEqual([true, 'why'])
  expect(AbortSignal.any([new AbortController().signal, other.signal]).reason).toBe('why')
})
