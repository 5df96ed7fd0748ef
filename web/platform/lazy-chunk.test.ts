import { expect, test, vi } from 'vitest'
import { createLazyChunk } from './lazy-chunk.ts'

test('a preload ignores failures, and loads nothing offline without a service worker', async () => {
  const importModule = vi.fn(() => Promise.reject<{ name: string }>(new TypeError('No network')))
  const chunk = createLazyChunk(importModule, 'name')
  for (const [browser, calls] of [
    [{ onLine: true }, 1],
    [{ onLine: false }, 1],
    [{ onLine: false, serviceWorker: { controller: {} } }, 2],
  ] as const) {
    vi.stubGlobal('navigator', browser)
    await chunk.preload()
    expect(importModule).toHaveBeenCalledTimes(calls)
  }
})
