import { isRecord, sessionStore } from '../browser/storage.ts'
import { isFresh, isMailedCode } from '../codes/mailed-code.ts'
import type { Operation } from './sign-in-flow.ts'

type SavedSignIn = { operation: Operation; open: boolean }

const KEY = 'sign-in'
const REGISTERED = 'registered'

/** Signing in continues after a reload or after the dialog was closed. */
export function saveSignIn(operation: Operation): void {
  write({ operation, open: true })
}

/** Returns null if there is none or its code is too old at `now` (unix milliseconds). */
export function savedSignIn(now: number): SavedSignIn | null {
  const saved = sessionStore.readJson(KEY, isSavedSignIn)
  return saved && isFresh(saved.operation, now) ? saved : null
}

/** A closed dialog shows the code step when opened, but no longer opens by itself. */
export function saveSignInClosed(now: number): void {
  const saved = savedSignIn(now)
  if (saved) write({ ...saved, open: false })
}

export function removeSavedSignIn(): void {
  sessionStore.remove(KEY)
}

/** Saves that the person has just registered, for the page that is loaded next. */
export function saveRegistered(): void {
  sessionStore.write(REGISTERED, 'yes')
}

/** Returns true once. */
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
    isMailedCode(value) && 'way' in value && (value.way === 'login' || value.way === 'registration')
  )
}
