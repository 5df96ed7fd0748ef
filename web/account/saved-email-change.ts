import { isFresh, isMailedCode, type MailedCode } from '../codes/mailed-code.ts'
import { isRecord, sessionStore } from '../platform/storage.ts'

type Saved = { userId: string; change: MailedCode }

const KEY = 'email-change'

/** Saves a change that a user has started, so that it continues after a reload. */
export function saveEmailChange(userId: string, change: MailedCode): void {
  sessionStore.writeJson(KEY, { userId, change } satisfies Saved)
}

/** Returns null if there is none or its code is too old at `now` (unix milliseconds). */
export function savedEmailChange(userId: string, now: number): MailedCode | null {
  const saved = sessionStore.readJson(KEY, isSaved)
  return saved?.userId === userId && isFresh(saved.change, now) ? saved.change : null
}

export function removeEmailChange(): void {
  sessionStore.remove(KEY)
}

function isSaved(value: unknown): value is Saved {
  return isRecord(value) && typeof value.userId === 'string' && isMailedCode(value.change)
}
