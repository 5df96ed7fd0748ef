export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Calls back when the browser is idle; in Safari, which cannot detect this, after `atMostMs`. */
export function whenIdle(callback: () => void, atMostMs: number): void {
  if ('requestIdleCallback' in globalThis) {
    requestIdleCallback(() => callback(), { timeout: atMostMs })
  } else setTimeout(callback, atMostMs)
}

/**
 * Runs `action` as soon as the page is visible: nothing counts as seen in a background tab or in a
 * prerendered page. Returns the function that stops waiting.
 */
export function whenVisible(action: () => void): () => void {
  const waiting = new AbortController()
  const check = () => {
    if (document.visibilityState !== 'visible') return
    waiting.abort()
    action()
  }
  document.addEventListener('visibilitychange', check, { signal: waiting.signal })
  check()
  return () => waiting.abort()
}

/**
 * Runs `action` each time the page is left or hidden, because a hidden page may be discarded without
 * another event. Returns the function that ends this.
 */
export function onHide(action: () => void): () => void {
  const following = new AbortController()
  const { signal } = following
  const check = () => document.visibilityState === 'hidden' && action()
  globalThis.addEventListener?.('pagehide', action, { signal })
  globalThis.document?.addEventListener('visibilitychange', check, { signal })
  return () => following.abort()
}
