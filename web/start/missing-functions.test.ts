import { expect, onTestFinished, test, vi } from 'vitest'

const { withResolvers } = Promise
const { any } = AbortSignal

test('in an old browser a promise can be settled from outside, and a combined signal is aborted with the first of its signals', async () => {
  onTestFinished(() => {
    Object.assign(Promise, { withResolvers })
    Object.assign(AbortSignal, { any })
  })
  Reflect.deleteProperty(Promise, 'withResolvers')
  Reflect.deleteProperty(AbortSignal, 'any')
  vi.stubGlobal('HTMLElement', class {})
  await import('./missing-functions.ts')

  const [kept, broken] = [Promise.withResolvers<number>(), Promise.withResolvers()]
  kept.resolve(1)
  broken.reject(new Error('no'))
  expect(await kept.promise).toBe(1)
  await expect(broken.promise).rejects.toThrow('no')

  const [one, other] = [new AbortController(), new AbortController()]
  const signal = AbortSignal.any([one.signal, other.signal])
  expect(signal.aborted).toBe(false)
  other.abort('why')
  one.abort('later')
  expect([signal.aborted, signal.reason]).toEqual([true, 'why'])
  expect(AbortSignal.any([new AbortController().signal, other.signal]).reason).toBe('why')
})
