/** Safari does not report idleness: there `callback` runs after `atMostMs`. */
export function whenIdle(callback: () => void, atMostMs: number): () => void {
  if ('requestIdleCallback' in globalThis) {
    const id = requestIdleCallback(() => callback(), { timeout: atMostMs })
    return () => cancelIdleCallback(id)
  }
  const id = setTimeout(callback, atMostMs)
  return () => clearTimeout(id)
}
