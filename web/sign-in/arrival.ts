import { sessionStore } from '../platform/storage.ts'

const KEY = 'registered'

/** How the person signed in: with a new account, or to a restored one. */
type Arrival = 'registered' | 'returned'

/** Saves the arrival, for which the next page greets the person. */
export function saveArrival(arrival: Arrival): void {
  sessionStore.write(KEY, arrival)
}

/** Returns the saved arrival once. */
export function takeArrival(): string | null {
  const arrival = sessionStore.read(KEY)
  sessionStore.remove(KEY)
  return arrival
}
