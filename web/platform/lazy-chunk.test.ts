import { expect, onTestFinished, test, vi } from 'vitest'
import { createLazyChunk } from './lazy-chunk.ts'

test('a preload ignores failures, and sends no request offline', async () => {
  onTestFinished(() => void vi.unstubAllGlobals())
  const importModule = vi.fn(() => Promise.reject<{ name: string }>(new TypeError('No network')))
  const chunk = createLazyChunk(importModule, 'name')
  for (const onLine of [true, false]) {
    vi.stubGlobal('navigator', { onLine })
    await chunk.preload()
    expect(importModule).toHaveBeenCalledTimes(1)
  }
})
