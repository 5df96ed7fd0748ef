export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Calls back when the browser is idle; in Safari, which cannot detect this, after `atMostMs`. */
export function whenIdle(callback: () => void, atMostMs: number): void {
  if ('requestIdleCallback' in globalThis) {
    requestIdleCallback(() => callback(), { timeout: atMostMs })
  } else setTimeout(callback, atMostMs)
}
