import { useSyncExternalStore } from 'react'

/** Returns false during hydration, so that output that depends on the browser renders after it. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    subscribeToNothing,
    () => true,
    () => false,
  )
}

function subscribeToNothing(): () => void {
  return () => {}
}
