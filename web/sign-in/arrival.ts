import { sessionStore } from '../platform/storage.ts'

const KEY = 'registered'

/** How somebody has come in: with a new account, or back to a deleted one. */
type Arrival = 'registered' | 'returned'

/** Saves what the page that is loaded next greets the person for. */
export function saveArrival(arrival: Arrival): void {
  sessionStore.write(KEY, arrival)
}

/** Returns it once. */
export function takeArrival(): string | null {
  const arrival = sessionStore.read(KEY)
  sessionStore.remove(KEY)
  return arrival
}
