import { isRecord } from '../browser/storage.ts'

/** An operation whose code was mailed. `sentAt` is in unix milliseconds, and changes with every mail. */
export type MailedCode = { id: string; email: string; sentAt: number }

/**
 * The longest that an operation lives, in milliseconds: its code is valid for ten minutes once the mail server has accepted it.
 * Where it ends earlier, the server refuses the code itself.
 */
export const CODE_LIFE_MS = 20 * 60_000

/** Whether the code may still be good at `now` (unix milliseconds). */
export function isFresh({ sentAt }: MailedCode, now: number): boolean {
  // The distance either way: a clock that was set back makes a code no younger.
  return Math.abs(now - sentAt) < CODE_LIFE_MS
}

/** Whether a stored value is an operation with a mailed code. */
export function isMailedCode(value: unknown): value is MailedCode {
  return (
    isRecord(value) &&
    typeof value.id === 'string' &&
    typeof value.email === 'string' &&
    typeof value.sentAt === 'number'
  )
}
