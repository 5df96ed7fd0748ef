/** The first signs that a person uses a page; `scroll` is also the wheel and a finger. */
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
