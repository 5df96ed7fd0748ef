import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLazyChunk } from './lazy-chunk.ts'

beforeEach(() => vi.stubGlobal('navigator', { onLine: true }))
afterEach(() => vi.unstubAllGlobals())

/** A chunk that loads when the network works, and the function that counts its requests. */
function chunkOver(network: { works: boolean }) {
  const importModule = vi.fn(async () => {
    if (!network.works) throw new TypeError('Failed to fetch')
    return { name: 'content' }
  })
  return { chunk: createLazyChunk(importModule, 'name'), importModule }
}

test('concurrent loads share one request, and later loads need none', async () => {
  const { chunk, importModule } = chunkOver({ works: true })
  expect(chunk.content()).toBeUndefined()
  expect(await Promise.all([chunk.load(), chunk.load(), chunk.preload()])).toHaveLength(3)
  expect(chunk.content()).toBe('content')
  await chunk.load()
  expect(importModule).toHaveBeenCalledTimes(1)
})

test('a failure rejects every concurrent load, and the next load tries again', async () => {
  const network = { works: false }
  const { chunk, importModule } = chunkOver(network)
  const both = await Promise.allSettled([chunk.load(), chunk.load()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(importModule).toHaveBeenCalledTimes(1)
  network.works = true
  expect(await chunk.load()).toBe('content')
})

test('a preload ignores failures, and sends no request offline', async () => {
  const { chunk, importModule } = chunkOver({ works: false })
  await chunk.preload()
  expect(importModule).toHaveBeenCalledTimes(1)
  vi.stubGlobal('navigator', { onLine: false })
  await chunk.preload()
  expect(importModule).toHaveBeenCalledTimes(1)
})
