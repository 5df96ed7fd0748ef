import { isRecord } from '../platform/storage.ts'

export type MailedCode = { id: string; email: string; sentAt: number }

/** The longest life of an operation: a mail may be on its way for ten minutes of it. */
export const CODE_LIFE_MS = 20 * 60_000

export function isFresh({ sentAt }: MailedCode, now: number): boolean {
  // A clock that was set back makes a code no younger.
  return Math.abs(now - sentAt) < CODE_LIFE_MS
}

export function isMailedCode(value: unknown): value is MailedCode {
  return (
    isRecord(value) &&
    typeof value.id === 'string' &&
    typeof value.email === 'string' &&
    typeof value.sentAt === 'number'
  )
}
