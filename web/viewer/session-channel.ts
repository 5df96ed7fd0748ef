let opened: BroadcastChannel | null = null

/** Tells the other tabs of this browser that this one has signed in or out. */
export function announceSessionChange(): void {
  channel().postMessage(null)
}

/**
 * Calls `listener` when another tab has signed in or out, so that this one does not go on as the former viewer. Returns
 * the function that unsubscribes it.
 */
export function onSessionChange(listener: () => void): () => void {
  channel().addEventListener('message', listener)
  return () => channel().removeEventListener('message', listener)
}

/** One object per tab: a channel does not receive its own messages, but a second one of the same tab would. */
function channel(): BroadcastChannel {
  opened ??= new BroadcastChannel('session')
  return opened
}
