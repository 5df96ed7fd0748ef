export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** In Safari, which knows no idle time, calls back after `atMostMs`. */
export function whenIdle(callback: () => void, atMostMs: number): void {
  if ('requestIdleCallback' in globalThis) {
    requestIdleCallback(() => callback(), { timeout: atMostMs })
  } else setTimeout(callback, atMostMs)
}
