import { useSyncExternalStore } from 'react'

/** What depends on the browser, such as its time zone, shows from the second render on. */
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
