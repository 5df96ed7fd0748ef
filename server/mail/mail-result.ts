import type { MailOutcome } from '../db/tables.ts'
import type { Admission } from './mail-gate.ts'
import type { QueuedMail } from './queue-mail.ts'
import { MailFailure } from './smtp.ts'

/** A mail in the queue, with what earlier attempts have left in it. */
export type WaitingMail = QueuedMail & {
  tries?: number
  /** The whole mail was sent before, and no reply came. */
  isUnanswered?: boolean
  /** It was counted as one of its hour's mails. */
  isCounted?: boolean
  waitsFor?: 'login' | 'limit' | undefined
  /** Its row in the log, and when it was queued first, in unix milliseconds. */
  logId?: string
  queuedAt?: number
}

/** What one run of a job has made of its mail. */
export type Result<M> = {
  outcome: MailOutcome
  message: string
  isTried: boolean
  error?: string | undefined
  reply?: number | undefined
  answer?: string | undefined
  hint?: string | undefined
  /**
   * The mail as it is queued again, and after how many milliseconds. One that waits for the login is queued for the next try
   * where the pause lasts still.
   */
  again?: { mail: M; afterMs: number }
}

const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 15_000

/** What becomes of a mail that may not be sent now. */
export function postpone<M extends WaitingMail>(
  mail: M,
  admission: Extract<Admission, { isAdmitted: false }>,
): Result<M> {
  const { waitsFor } = admission
  const waiting = { ...mail, waitsFor }
  if (waitsFor === 'login') {
    const message = 'mail waits: the login is refused'
    return { outcome: 'paused', message, isTried: false, again: { mail: waiting, afterMs: 0 } }
  }
  const again = { mail: waiting, afterMs: admission.afterMs }
  return { outcome: 'limited', message: 'mail waits: MAILS_PER_HOUR', isTried: false, again }
}

/** Decides what becomes of a mail that was not sent because of an error. */
export function judgeFailure<M extends WaitingMail>(mail: M, error: unknown): Result<M> {
  const failure = error instanceof MailFailure ? error : undefined
  const failed = {
    isTried: true,
    error: failure ? failure.code : (error as NodeJS.ErrnoException).code,
    reply: failure?.reply,
    answer: failure?.answer,
    hint: failure?.hint,
  }
  if (failure?.kind === 'refused') return { ...failed, outcome: 'refused', message: 'mail refused' }
  const isUnanswered = failure?.kind === 'unanswered'
  if (isUnanswered && mail.isUnanswered) {
    return { ...failed, outcome: 'sent', message: 'mail sent twice without an answer' }
  }
  const { tries = 0 } = mail
  const next = {
    ...mail,
    tries: tries + 1,
    isUnanswered: mail.isUnanswered || isUnanswered,
    waitsFor: failure?.login === 'refused' ? ('login' as const) : undefined,
  }
  const afterMs = Math.min(FIRST_RETRY_MS * 2 ** tries, LONGEST_RETRY_MS)
  const again = { mail: next, afterMs }
  return { ...failed, outcome: 'retrying', message: 'mail not sent, will retry', again }
}
