import { isRecord, sessionStore } from '../browser/storage.ts'

/** An e-mail change that waits for its code. `sentAt` in unix milliseconds. */
export type EmailChange = { id: string; email: string; sentAt: number }

type Saved = { userId: string; change: EmailChange }

const KEY = 'email-change'
/** How long a mailed code is good for, in milliseconds; where the server is set to less, it refuses the code itself. */
const LIFE_MS = 10 * 60_000

/** Saves a change that a user has started, so that it continues after a reload. */
export function saveEmailChange(userId: string, change: EmailChange): void {
  sessionStore.writeJson(KEY, { userId, change } satisfies Saved)
}

/** The saved change of a user at `now` (unix milliseconds); null when there is none or its code is too old. */
export function savedEmailChange(userId: string, now: number): EmailChange | null {
  const saved = sessionStore.readJson(KEY, isSaved)
  if (!saved || saved.userId !== userId) return null
  // The distance either way: a clock that was set back makes a code no younger.
  return Math.abs(now - saved.change.sentAt) < LIFE_MS ? saved.change : null
}

/** Removes the saved change: it was completed, or the person started over or logged out. */
export function removeEmailChange(): void {
  sessionStore.remove(KEY)
}

function isSaved(value: unknown): value is Saved {
  return isRecord(value) && typeof value.userId === 'string' && isEmailChange(value.change)
}

function isEmailChange(value: unknown): value is EmailChange {
  return (
    isRecord(value) &&
    typeof value.id === 'string' &&
    typeof value.email === 'string' &&
    typeof value.sentAt === 'number'
  )
}
