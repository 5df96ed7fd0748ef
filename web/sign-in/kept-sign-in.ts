import { isRecord, sessionStore } from '../browser/storage.ts'
import type { Operation } from './sign-in-flow.ts'

type Kept = { operation: Operation; open: boolean }

const KEY = 'sign-in'
/** Milliseconds a mailed code is good for, unless the server is set otherwise: then it says so itself. */
const LIFE_MS = 10 * 60_000

/** Keeps the operation on its way, so that signing in goes on after a reload or after the dialog was closed. */
export function keepSignIn(operation: Operation): void {
  write({ operation, open: true })
}

/** The operation on its way at `now` (unix milliseconds); null when there is none or its code is too old. */
export function keptSignIn(now: number): Kept | null {
  const kept = sessionStore.readJson(KEY, isKept)
  // A clock that was set back since makes it no younger.
  return kept && Math.abs(now - kept.operation.sentAt) < LIFE_MS ? kept : null
}

/** Remembers that the person closed the dialog: it opens on the code when asked for, no longer by itself. */
export function keepSignInClosed(now: number): void {
  const kept = keptSignIn(now)
  if (kept) write({ ...kept, open: false })
}

/** Forgets the operation: it was used, or the person began anew. */
export function forgetSignIn(): void {
  sessionStore.remove(KEY)
}

function write(kept: Kept): void {
  sessionStore.writeJson(KEY, kept)
}

function isKept(value: unknown): value is Kept {
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
