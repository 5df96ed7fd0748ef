import { setTimeout as delay } from 'node:timers/promises'
import type { Db, Queryable } from '../db/database.ts'
import type { Outage } from '../db/outage.ts'
import type { OutboxState } from '../db/tables.ts'
import type { Ending, Jobs } from '../queue/queue.ts'
import { maskEmail } from './email-address.ts'
import type { Wait } from './mails-per-hour.ts'
import {
  backOffDomain,
  type ClaimedMail,
  claimMail,
  endPause,
  type Lane,
  LONGEST_WAIT_MS,
  messageId,
  type Outcome,
  pauseMails,
  removeMail,
  storeOutcome,
} from './outbox.repository.ts'
import { type QueuedMail, SEND_MAILS_TASK, SENDERS, wakeSenders } from './queue-mail.ts'
import type { Mail, MailFailure } from './smtp.ts'
import { maskAnswer } from './smtp-answer.ts'
import type { MailTransport } from './transport.ts'

export type MailKind<M extends QueuedMail> = {
  /** Writes the mail; returns null if there is nothing left to send. */
  write: (mail: M, leftMs: number) => Mail | null | Promise<Mail | null>
  /** Locks the rows that `onOutcome` changes, before the mail is locked: queueing uses this order. */
  lock?: (tx: Queryable, mail: M) => Promise<void>
  onOutcome?: (tx: Queryable, mail: M, state: OutboxState) => Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: payloads differ by kind; each kind states its own
export type MailKinds = Record<string, MailKind<any>>

type Options = {
  db: Db
  kinds: MailKinds
  transport: Pick<MailTransport, 'send'>
  countTry?: ((outcome: 'sent' | MailFailure['kind']) => void) | undefined
  /** Counts a mail before its first try, or returns how long it must wait. */
  charge: (mail: QueuedMail, tries: number) => Promise<Wait | undefined>
  logKey: Buffer
  /** The host of the Message-IDs. A mail that is sent again after a move keeps its id. */
  idHost?: string | undefined
  log: Record<'warn' | 'info' | 'debug', (details: object, message: string) => void>
  outage: Pick<Outage, 'whenWritable' | 'isClosed'>
}

type Result = Outcome & {
  message: string
  hint?: string | undefined
  login?: MailFailure['login']
  /** Whether the server could not be reached, or let nobody begin a mail. */
  isAway?: boolean
}

/** How long one job sends mails, so that a server that hangs does not delay other jobs for long. */
const TURN_MS = 1000
const FIRST_RETRY_MS = 2000
const LONGEST_URGENT_MS = 15_000
const STORE_AGAIN_MS = 1000

export function mailJobs(options: Options): Jobs {
  const sender = new MailSender(options)
  return {
    [SEND_MAILS_TASK]: {
      cron: '* * * * *',
      isConcurrent: true,
      run: (ending) => sender.run(ending),
    },
  }
}

/**
 * Sends due mails. Retries a failed mail until it expires: after 2, 4, 8 s and so on, but an urgent
 * one every 15 s, others every 5 minutes. A mail sent whole without a reply is retried once.
 */
class MailSender {
  #options: Options
  /** The conversations that go on. */
  readonly #sending = new Set<ClaimedMail>()
  #claiming: Promise<unknown> = Promise.resolve()
  #awaySince: number | undefined

  constructor(options: Options) {
    this.#options = options
  }

  async run({ signal }: Pick<Ending, 'signal'>): Promise<void> {
    const end = performance.now() + TURN_MS
    while (performance.now() < end && !signal.aborted) {
      const mail = await this.#claim()
      if (!mail) return
      await this.#send(mail, signal).finally(() => this.#sending.delete(mail))
    }
    await wakeSenders(this.#options.db)
  }

  /** Runs claims in sequence, so that a claim without a mail does not occupy a sender. */
  #claim(): Promise<ClaimedMail | undefined> {
    const claim = this.#claiming.then(() => this.#claimNow())
    this.#claiming = claim.catch(() => {})
    return claim
  }

  async #claimNow(): Promise<ClaimedMail | undefined> {
    if (this.#sending.size >= SENDERS) return undefined
    const { db, kinds } = this.#options
    const mail = await claimMail(db, { tasks: Object.keys(kinds), lane: this.#freeLane() })
    if (mail) this.#sending.add(mail)
    return mail
  }

  /** One sender is kept for people who sign in, and one for them and for notices. */
  #freeLane(): Lane {
    if (this.#sending.size === SENDERS - 1) return 'codes to known addresses'
    const toNew = [...this.#sending].filter(({ payload }) => payload.isToNewAddress).length
    return toNew >= SENDERS - 2 ? 'no codes to new addresses' : 'all'
  }

  async #send(mail: ClaimedMail, signal: AbortSignal): Promise<void> {
    const { db, kinds, charge } = this.#options
    if (mail.leftMs <= 0) return this.#finish(mail, GIVEN_UP)
    const content = await kinds[mail.task]?.write(mail.payload, mail.leftMs)
    if (!content) return mail.tries > 0 ? this.#finish(mail, GIVEN_UP) : removeMail(db, mail.id)
    const wait = await charge(mail.payload, mail.tries)
    if (wait)
      return this.#finish(mail, { ...wait, againMs: Math.min(wait.againMs, LONGEST_WAIT_MS) })
    if (performance.now() > mail.beginBy) {
      return this.#finish(mail, { state: mail.state, message: 'claimed too long ago', againMs: 0 })
    }
    const result = await this.#converse(mail, content, signal)
    this.#reportServer(result)
    if (result.login === 'refused') await pauseMails(db)
    await this.#finish(mail, result)
    if (result.login === 'accepted' && mail.isProbe) await endPause(db)
  }

  async #converse(mail: ClaimedMail, content: Mail, signal: AbortSignal): Promise<Result> {
    const { transport, countTry, logKey, idHost } = this.#options
    try {
      const id = messageId(mail, logKey)
      const response = await transport.send({ ...content, id, idHost }, signal)
      countTry?.('sent')
      const answer = maskAnswer(response, mail.payload.to)
      return { state: 'sent', message: 'mail sent', login: 'accepted', attempt: { answer } }
    } catch (error) {
      countTry?.((error as Partial<MailFailure>).kind ?? 'failed')
      return resultOfFailure(mail, error as Error)
    }
  }

  /** Logs when the mail server is away and when it is back, instead of each try between. */
  #reportServer({ isAway, login, attempt, hint }: Result): void {
    const { log } = this.#options
    if (isAway && this.#awaySince === undefined) {
      this.#awaySince = performance.now()
      const { error: code, reply, answer } = attempt ?? {}
      log.warn({ code, reply, answer, hint }, 'the mail server is away')
    } else if (login === 'accepted' && this.#awaySince !== undefined) {
      const seconds = Math.round((performance.now() - this.#awaySince) / 1000)
      this.#awaySince = undefined
      log.info({ seconds }, 'the mail server is back')
    }
  }

  async #finish(
    mail: ClaimedMail,
    { message, hint, login, isAway, ...outcome }: Result,
  ): Promise<void> {
    const { log } = this.#options
    const { task, payload, state } = mail
    await this.#store(mail, outcome).catch((err) => {
      log.warn({ task, err }, 'outcome not stored')
      void this.#storeLater(mail, outcome)
    })
    const { error: code, reply, answer } = outcome.attempt ?? {}
    if (!outcome.attempt && outcome.state === state) return
    const details = { task, to: maskEmail(payload.to), code, reply, answer, hint }
    log[levelOf(outcome.state, isAway)](details, message)
  }

  #store(mail: ClaimedMail, outcome: Outcome): Promise<void> {
    const { db, kinds, logKey } = this.#options
    return db.transaction().execute(async (tx) => {
      await kinds[mail.task]?.lock?.(tx, mail.payload)
      if (!(await storeOutcome(tx, mail, { ...outcome, logKey }))) return
      const { attempt, againMs } = outcome
      const isSilent = attempt !== undefined && attempt.reply === undefined
      if (isSilent && againMs !== undefined) {
        const pauseMs = Math.min(againMs, LONGEST_URGENT_MS)
        await backOffDomain(tx, { id: mail.id, againMs: pauseMs })
        if (pauseMs < againMs) await wakeSenders(tx, pauseMs)
      }
      await kinds[mail.task]?.onOutcome?.(tx, mail.payload, outcome.state)
    })
  }

  /** Retries to store an outcome, since a sent mail must not be sent again. No job waits for it. */
  async #storeLater(mail: ClaimedMail, outcome: Outcome): Promise<void> {
    const { outage } = this.#options
    await delay(STORE_AGAIN_MS)
    await outage.whenWritable()
    if (outage.isClosed()) return
    await this.#store(mail, outcome)
      .then(() => wakeSenders(this.#options.db))
      .catch(() => this.#storeLater(mail, outcome))
  }
}

const levelOf = (state: OutboxState, isAway = false) =>
  state === 'sent' ? 'info' : isAway ? 'debug' : 'warn'

/** Errors that say nothing of the server: our own deadline, or an address that it cannot take. */
const NOT_AWAY = ['EABORT', 'ESMTPUTF8']

const GIVEN_UP: Result = { state: 'expired', message: 'mail given up' }

function resultOfFailure(
  { payload, tries, ...mail }: ClaimedMail,
  { kind, code, response, responseCode, message, hint, login }: Error & Partial<MailFailure>,
): Result {
  const isUnanswered = kind === 'unanswered'
  const answer = kind && maskAnswer(response ?? message, payload.to)
  const attempt = { error: code, reply: responseCode, answer, isUnanswered }
  const isAway = kind === 'failed' && login !== 'accepted' && !NOT_AWAY.includes(code ?? '')
  const failed = { attempt, hint, login, isAway }
  if (kind === 'refused') return { ...failed, state: 'refused', message: 'mail refused' }
  if (isUnanswered && mail.isUnanswered) {
    return { ...failed, state: 'expired', message: 'mail sent twice without an answer' }
  }
  const longest = payload.isUrgent ? LONGEST_URGENT_MS : LONGEST_WAIT_MS
  const againMs = Math.min(FIRST_RETRY_MS * 2 ** tries, longest)
  return { ...failed, state: 'retrying', message: 'mail not sent, will retry', againMs }
}
