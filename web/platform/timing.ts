export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Calls `callback` when the browser is idle; in Safari, which cannot tell, after `atMostMs`. */
export function whenIdle(callback: () => void, atMostMs: number): () => void {
  if ('requestIdleCallback' in globalThis) {
    const id = requestIdleCallback(() => callback(), { timeout: atMostMs })
    return () => cancelIdleCallback(id)
  }
  const id = setTimeout(callback, atMostMs)
  return () => clearTimeout(id)
}
