import { sessionStore } from '../platform/storage.ts'

const KEY = 'registered'

/** Saves that the person has just registered, for the page that is loaded next. */
export function saveRegistered(): void {
  sessionStore.write(KEY, 'yes')
}

/** Returns true once. */
export function takeRegistered(): boolean {
  const registered = sessionStore.read(KEY) !== null
  sessionStore.remove(KEY)
  return registered
}
