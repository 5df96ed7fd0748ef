import { setTimeout as delay } from 'node:timers/promises'
import type { Db, Queryable } from '../db/database.ts'
import type { Outage } from '../db/outage.ts'
import type { OutboxState } from '../db/tables.ts'
import type { Ending, Jobs } from '../queue/queue.ts'
import { maskEmail } from './email-address.ts'
import { endPause, pauseMails } from './login-pause.repository.ts'
import type { Wait } from './mails-per-hour.ts'
import {
  backOffDomain,
  type ClaimedMail,
  claimMail,
  LONGEST_WAIT_MS,
  type Outcome,
  removeMail,
  settleMail,
} from './outbox.repository.ts'
import { type QueuedMail, SENDING, wakeSenders } from './queue-mail.ts'
import { type Mail, MailFailure } from './smtp.ts'
import { maskAnswer } from './smtp-answer.ts'
import type { MailTransport } from './transport.ts'

export type MailKind<M extends QueuedMail> = {
  /** Writes a mail that expires in `leftMs`. Returns null where there is nothing left to write. */
  write: (mail: M, leftMs: number) => Mail | null | Promise<Mail | null>
  /** Stores what follows from the mail's state, in the same transaction. */
  settled?: (tx: Queryable, mail: M, state: OutboxState) => Promise<void>
}

/** Kinds of mail by the names under which they are queued. */
// biome-ignore lint/suspicious/noExplicitAny: payloads differ by kind; each kind states its own
export type MailKinds = Record<string, MailKind<any>>

type Options = {
  db: Db
  kinds: MailKinds
  transport: Pick<MailTransport, 'send'>
  /** Counts a mail as one of its hour's, unless it has to wait. */
  charge: (mail: QueuedMail) => Promise<Wait | undefined>
  logKey: Buffer
  log: Record<'warn' | 'info', (details: object, message: string) => void>
  outage: Pick<Outage, 'whenWritable' | 'isClosed'>
}

/** An outcome with the line for the log, and whether the server has accepted the login. */
type Result = Outcome & { message: string; hint?: string | undefined; login?: MailFailure['login'] }

/** After this time other jobs take their turn: a server that hangs would hold them up. */
const TURN_MS = 1000
/** Conversations of a node at once; the last of them is kept for people with accounts. */
const SENDERS = 4
const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 15_000
const STORE_AGAIN_MS = 1000

/** The job that sends mails. */
export function mailJobs(options: Options): Jobs {
  return { [SENDING]: { everyMinutes: 1, run: createSending(options) } }
}

/**
 * Makes the job that sends due mails, one after another. A failed mail is tried again after 2, 4, 8
 * and then every 15 s until it expires, as are others to a domain whose server does not reply; one
 * that its server refuses is not, and one that was sent whole without a reply, which may have
 * arrived, only once.
 */
export function createSending(options: Options) {
  const { db, kinds, transport, charge, log, outage } = options
  const tasks = Object.keys(kinds)
  let busy = 0

  /** Sends the next mail. Returns false if there is none, or no sender is free for it. */
  async function sendNext(signal: AbortSignal): Promise<boolean> {
    if (busy >= SENDERS) return false
    busy++
    try {
      const mail = await claimMail(db, { tasks, isReserved: busy === SENDERS })
      if (mail) await send(mail, signal)
      return mail !== undefined
    } finally {
      busy--
    }
  }

  async function send(mail: ClaimedMail, signal: AbortSignal): Promise<void> {
    if (mail.leftMs <= 0) return settle(mail, GIVEN_UP)
    const written = await kinds[mail.task]?.write(mail.payload, mail.leftMs)
    // A mail that was never tried leaves no trace in the log.
    if (!written) return mail.tries > 0 ? settle(mail, GIVEN_UP) : removeMail(db, mail.id)
    // It counts as one mail, however often it is tried.
    const wait = mail.tries > 0 ? undefined : await charge(mail.payload)
    if (wait) return settle(mail, { ...wait, againMs: Math.min(wait.againMs, LONGEST_WAIT_MS) })
    const result = await converse(mail, written, signal)
    if (result.login === 'refused') await pauseMails(db)
    await settle(mail, result)
    if (result.login === 'accepted' && mail.isProbe) await endPause(db)
  }

  async function converse(mail: ClaimedMail, written: Mail, signal: AbortSignal): Promise<Result> {
    try {
      const answer = maskAnswer(await transport.send(written, signal), mail.payload.to)
      return { state: 'sent', message: 'mail sent', login: 'accepted', attempt: { answer } }
    } catch (error) {
      return resultOfFailure(mail, error as Error)
    }
  }

  /** Stores and logs what has become of a mail; that the hour's mails are used up, only once. */
  async function settle(mail: ClaimedMail, { message, hint, login, ...outcome }: Result) {
    const { task, payload, state } = mail
    await store(mail, outcome).catch((err) => {
      log.warn({ task, err }, 'outcome not stored')
      void storeLater(mail, outcome)
    })
    const { error: code, reply, answer } = outcome.attempt ?? {}
    if (!outcome.attempt && outcome.state === state) return
    const details = { task, to: maskEmail(payload.to), code, reply, answer, hint }
    log[outcome.state === 'sent' && code === undefined ? 'info' : 'warn'](details, message)
  }

  function store(mail: ClaimedMail, outcome: Outcome): Promise<void> {
    return db.transaction().execute(async (tx) => {
      if (!(await settleMail(tx, mail, { ...outcome, logKey: options.logKey }))) return
      const { attempt, againMs } = outcome
      const isSilent = attempt !== undefined && attempt.reply === undefined
      if (isSilent && againMs !== undefined) await backOffDomain(tx, { id: mail.id, againMs })
      await kinds[mail.task]?.settled?.(tx, mail.payload, outcome.state)
    })
  }

  /** A sent mail must not be sent again. No job waits for this: its runner may be replaced. */
  async function storeLater(mail: ClaimedMail, outcome: Outcome): Promise<void> {
    await delay(STORE_AGAIN_MS)
    await outage.whenWritable()
    if (!outage.isClosed()) await store(mail, outcome).catch(() => storeLater(mail, outcome))
  }

  return async (_: unknown, { signal }: Pick<Ending, 'signal'>): Promise<void> => {
    const end = performance.now() + TURN_MS
    while (performance.now() < end && !signal.aborted) {
      if (!(await sendNext(signal))) return
    }
    await wakeSenders(db)
  }
}

const GIVEN_UP: Result = { state: 'expired', message: 'mail given up' }

function resultOfFailure({ payload, tries, ...mail }: ClaimedMail, error: Error): Result {
  const { code } = error as NodeJS.ErrnoException
  const failure = error instanceof MailFailure ? error : undefined
  const isUnanswered = failure?.kind === 'unanswered'
  const answer = failure && maskAnswer(failure.answer, payload.to)
  const attempt = { error: code, reply: failure?.reply, answer, isUnanswered }
  const failed = { attempt, hint: failure?.hint, login: failure?.login }
  if (failure?.kind === 'refused') return { ...failed, state: 'refused', message: 'mail refused' }
  if (isUnanswered && mail.isUnanswered) {
    return { ...failed, state: 'sent', message: 'mail sent twice without an answer' }
  }
  const againMs = Math.min(FIRST_RETRY_MS * 2 ** tries, LONGEST_RETRY_MS)
  return { ...failed, state: 'retrying', message: 'mail not sent, will retry', againMs }
}
