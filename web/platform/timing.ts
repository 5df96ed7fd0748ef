export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Calls `callback` when the browser is idle; in Safari, which cannot tell, after `atMostMs`. */
export function whenIdle(callback: () => void, atMostMs: number): void {
  if ('requestIdleCallback' in globalThis) {
    requestIdleCallback(() => callback(), { timeout: atMostMs })
  } else setTimeout(callback, atMostMs)
}
