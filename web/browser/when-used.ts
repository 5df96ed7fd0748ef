/** What a person does first on a page that they use; `scroll` is also the wheel, a finger and the keyboard. */
const SIGNS_OF_USE = ['pointermove', 'pointerdown', 'keydown', 'scroll'] as const

/** Calls `callback` once, at the first sign that somebody uses the page. Returns the function that cancels it. */
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
