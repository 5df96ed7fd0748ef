let shared: BroadcastChannel | null = null

/** Tells the other tabs of this browser that somebody has signed in or out here. */
export function announceSessionChange(): void {
  channel().postMessage(null)
}

/** Calls `listener` when another tab has signed in or out: this one would go on under a name that no longer holds. */
export function onSessionChange(listener: () => void): void {
  channel().addEventListener('message', listener)
}

/** One object a tab: a second one would hear what the first one says. */
function channel(): BroadcastChannel {
  shared ??= new BroadcastChannel('session')
  return shared
}
