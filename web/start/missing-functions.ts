/** Adds what the oldest browsers of the build's target (Chrome 109, Safari 16.4) lack. */

Promise.withResolvers ??= function withResolvers<T>() {
  const made = {} as PromiseWithResolvers<T>
  made.promise = new Promise<T>((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}
AbortSignal.any ??= (signals) => {
  const own = new AbortController()
  for (const it of signals) {
    const abort = () => own.abort(it.reason)
    if (it.aborted) abort()
    else it.addEventListener('abort', abort, { signal: own.signal })
  }
  return own.signal
}
// Without the top layer, the style sheet puts a popover above the page.
HTMLElement.prototype.showPopover ??= () => {}
HTMLElement.prototype.hidePopover ??= () => {}

export {}
