/**
 * Calls `callback` when the browser is idle, after `atMostMs` at the latest. Returns the function that cancels it. Safari
 * does not report idleness: there `callback` always runs after `atMostMs`.
 */
export function whenIdle(callback: () => void, atMostMs: number): () => void {
  if ('requestIdleCallback' in globalThis) {
    const id = requestIdleCallback(() => callback(), { timeout: atMostMs })
    return () => cancelIdleCallback(id)
  }
  const id = setTimeout(callback, atMostMs)
  return () => clearTimeout(id)
}
