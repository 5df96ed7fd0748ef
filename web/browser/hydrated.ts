import { useSyncExternalStore } from 'react'

/**
 * Whether the component shows more than the server could render: false in its first render where the page came rendered,
 * true from then on. For what depends on the browser, such as its time zone.
 */
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
