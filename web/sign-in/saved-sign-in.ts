import { isFresh, isMailedCode } from '../codes/mailed-code.ts'
import { sessionStore } from '../platform/storage.ts'
import type { Operation } from './sign-in-flow.ts'

const KEY = 'sign-in'
const REGISTERED = 'registered'

/** Signing in continues after a reload or after the dialog was closed. */
export function saveSignIn(operation: Operation): void {
  sessionStore.writeJson(KEY, operation)
}

/** Returns null if there is none or its code is too old at `now` (unix milliseconds). */
export function savedSignIn(now: number): Operation | null {
  const operation = sessionStore.readJson(KEY, isOperation)
  return operation && isFresh(operation, now) ? operation : null
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

function isOperation(value: unknown): value is Operation {
  return (
    isMailedCode(value) && 'way' in value && (value.way === 'login' || value.way === 'registration')
  )
}
