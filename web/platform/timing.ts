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

/** Signs that a person uses the page. `scroll` covers the wheel and touch. */
const SIGNS_OF_USE = ['pointermove', 'pointerdown', 'keydown', 'scroll'] as const

export function whenUsed(callback: () => void): () => void {
  const controller = new AbortController()
  const { signal } = controller
  for (const sign of SIGNS_OF_USE) {
    addEventListener(
      sign,
      () => {
        if (signal.aborted) return
        controller.abort()
        callback()
      },
      { passive: true, signal },
    )
  }
  return () => controller.abort()
}
