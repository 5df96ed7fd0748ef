import { isRecord, sessionStore } from '../browser/storage.ts'
import type { Operation } from './sign-in-flow.ts'

type SavedSignIn = { operation: Operation; open: boolean }

const KEY = 'sign-in'
const REGISTERED = 'registered'
/** How long a mailed code is good for, in milliseconds; where the server is set to less, it refuses the code itself. */
const LIFE_MS = 10 * 60_000

/** Saves a started operation, so that signing in continues after a reload or after the dialog was closed. */
export function saveSignIn(operation: Operation): void {
  write({ operation, open: true })
}

/** The saved operation at `now` (unix milliseconds); null when there is none or its code is too old. */
export function savedSignIn(now: number): SavedSignIn | null {
  const saved = sessionStore.readJson(KEY, isSavedSignIn)
  // The distance either way: a clock that was set back makes a code no younger.
  return saved && Math.abs(now - saved.operation.sentAt) < LIFE_MS ? saved : null
}

/** Saves that the person closed the dialog: it shows the code step when opened, but no longer opens by itself. */
export function saveSignInClosed(now: number): void {
  const saved = savedSignIn(now)
  if (saved) write({ ...saved, open: false })
}

/** Removes the saved operation: it was used, or the person started over. */
export function removeSavedSignIn(): void {
  sessionStore.remove(KEY)
}

/** Saves that the person has just registered, for the page that is loaded next. */
export function saveRegistered(): void {
  sessionStore.write(REGISTERED, 'yes')
}

/** Whether the person has just registered; true once. */
export function takeRegistered(): boolean {
  const registered = sessionStore.read(REGISTERED) !== null
  sessionStore.remove(REGISTERED)
  return registered
}

function write(saved: SavedSignIn): void {
  sessionStore.writeJson(KEY, saved)
}

function isSavedSignIn(value: unknown): value is SavedSignIn {
  return isRecord(value) && typeof value.open === 'boolean' && isOperation(value.operation)
}

function isOperation(value: unknown): value is Operation {
  return (
    isRecord(value) &&
    (value.way === 'login' || value.way === 'registration') &&
    typeof value.email === 'string' &&
    typeof value.id === 'string' &&
    typeof value.sentAt === 'number'
  )
}
