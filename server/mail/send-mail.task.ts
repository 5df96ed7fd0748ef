import { databaseTime } from '../db/clock.ts'
import type { Db } from '../db/database.ts'
import type { MailOutcome } from '../db/tables.ts'
import { maskEmail } from './email-address.ts'
import { lockPause } from './login-pause.repository.ts'
import type { MailGate } from './mail-gate.ts'
import { putMailEntry } from './mail-log.repository.ts'
import { judgeFailure, postpone, type Result, type WaitingMail } from './mail-result.ts'
import { queueAgain } from './queue-mail.ts'
import { MailFailure } from './smtp.ts'
import { maskAnswer } from './smtp-answer.ts'

type Attempt = {
  /** Milliseconds until the mail expires. */
  leftMs: number
  /** Aborts when the process is about to end. */
  signal: AbortSignal
}

export type Sender<M> = {
  /**
   * Returns the mail server's answer, or null where there is nothing to write any more. Rejects when the mail was not sent, over
   * SMTP with MailFailure.
   */
  send: (mail: M, attempt: Attempt) => Promise<string | null>
  /** Called after each attempt. A rejection is only logged. */
  onOutcome?: (mail: M, outcome: MailOutcome) => Promise<void>
}

/** What every mail needs on its way. */
export type Delivery = {
  db: Db
  log: Record<'warn' | 'info', (details: object, message: string) => void>
  gate: MailGate
  /** The key that hashes addresses for the log of mails. */
  logKey: Buffer
}

const GIVEN_UP = { outcome: 'expired', message: 'mail given up', isTried: false } as const

/**
 * Makes the job that sends a mail. A mail that failed, or was interrupted by the end of the process, is queued again after 2, 4, 8
 * and then every 15 s, until it expires; one whose login was refused at the next try, a minute later. A mail that its server refuses
 * permanently is not queued again. A mail that was sent whole without a reply may have arrived, and is queued again only once.
 */
export function sendUntilExpired<M extends WaitingMail>(
  task: string,
  { send, onOutcome = async () => {} }: Sender<M>,
  { db, log, gate, logKey }: Delivery,
): (mail: M, ending: { abortSignal: AbortSignal }) => Promise<void> {
  async function run(mail: M, attempt: Attempt): Promise<Result<M> | null> {
    if (attempt.leftMs <= 0) return GIVEN_UP
    const { isUrgent = false, isCounted = false } = mail
    const admission = await gate.admit({ isUrgent, isCounted })
    if (!admission.isAdmitted) return postpone(mail, admission)
    const admitted = { ...mail, isCounted: true, waitsFor: undefined }
    try {
      const answer = await send(mail, attempt)
      // What was never tried is no mail at all.
      if (answer === null) return mail.logId === undefined ? null : GIVEN_UP
      await noteLogin('accepted', admission.isProbe)
      return { outcome: 'sent', message: 'mail sent', isTried: true, answer }
    } catch (error) {
      if (error instanceof MailFailure) await noteLogin(error.login, admission.isProbe)
      return judgeFailure(admitted, error)
    }
  }

  /** A mail that was sent must not be sent again because this could not be stored. */
  function noteLogin(...noted: Parameters<MailGate['noteLogin']>): Promise<void> {
    return gate.noteLogin(...noted).catch((err) => log.warn({ task, err }, 'login not noted'))
  }

  /** Logs a result, and queues the mail again where it says so. */
  async function record(mail: M, result: Result<M>): Promise<void> {
    const { message, again, hint, ...rest } = result
    const answer = rest.answer && maskAnswer(rest.answer, mail.to)
    const entry = { ...rest, answer, id: mail.logId, task, to: mail.to }
    // Each of the mails that wait asks again and again: only the first time is news.
    const isNews = again === undefined || result.isTried || again.mail.waitsFor !== mail.waitsFor
    const put = async (tx: Db) => (isNews ? putMailEntry(tx, entry, logKey) : mail.logId)
    if (again) {
      const queuedAt = mail.queuedAt ?? (await databaseTime(db))
      await db.transaction().execute(async (tx) => {
        const logId = await put(tx)
        const next = { ...again.mail, queuedAt, ...(logId !== undefined && { logId }) }
        const pauseMs = next.waitsFor === 'login' ? await lockPause(tx) : undefined
        await queueAgain(tx, task, { mail: next, afterMs: pauseMs ?? again.afterMs })
      })
    } else {
      await put(db).catch((err) => log.warn({ task, err }, 'outcome not stored'))
    }
    if (!isNews) return
    const { error: code, reply } = result
    const details = { task, to: maskEmail(mail.to), code, reply, answer, hint }
    log[result.outcome === 'sent' && code === undefined ? 'info' : 'warn'](details, message)
  }

  return async (mail, { abortSignal: signal }) => {
    // By the database's clock, which set the time of expiry.
    const leftMs = mail.expiresAt - (await databaseTime(db))
    const result = await run(mail, { leftMs, signal })
    if (!result) return
    await record(mail, result)
    await onOutcome(mail, result.outcome).catch((err) =>
      log.warn({ task, err }, 'outcome not stored'),
    )
  }
}
