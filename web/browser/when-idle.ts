/**
 * Calls back when the browser has nothing else to do, at the latest after `atMostMs`; the function it gives calls that
 * off. Safari does not tell of idleness: there it is after that time.
 */
export function whenIdle(callback: () => void, atMostMs: number): () => void {
  if ('requestIdleCallback' in globalThis) {
    const id = requestIdleCallback(() => callback(), { timeout: atMostMs })
    return () => cancelIdleCallback(id)
  }
  const id = setTimeout(callback, atMostMs)
  return () => clearTimeout(id)
}
