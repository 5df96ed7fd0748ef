import { isRecord, sessionStore } from '../browser/storage.ts'
import { isFresh, isMailedCode, type MailedCode } from '../codes/mailed-code.ts'

type Saved = { userId: string; change: MailedCode }

const KEY = 'email-change'

/** Saves a change that a user has started, so that it continues after a reload. */
export function saveEmailChange(userId: string, change: MailedCode): void {
  sessionStore.writeJson(KEY, { userId, change } satisfies Saved)
}

/** The saved change of a user at `now` (unix milliseconds); null when there is none or its code is too old. */
export function savedEmailChange(userId: string, now: number): MailedCode | null {
  const saved = sessionStore.readJson(KEY, isSaved)
  return saved?.userId === userId && isFresh(saved.change, now) ? saved.change : null
}

/** Removes the saved change: it was completed, or the person started over or logged out. */
export function removeEmailChange(): void {
  sessionStore.remove(KEY)
}

function isSaved(value: unknown): value is Saved {
  return isRecord(value) && typeof value.userId === 'string' && isMailedCode(value.change)
}
