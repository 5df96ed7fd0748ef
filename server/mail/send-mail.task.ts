import { databaseTime } from '../db/clock.ts'
import type { Db } from '../db/database.ts'
import { addJob } from '../queue/queue.ts'
import { maskEmail } from './email-address.ts'
import { MailFailure } from './smtp.ts'

type ExpiringMail = {
  to: string
  expiresAt: number
  tries?: number
  /** The whole mail was sent before, and no reply came. */
  isUnanswered?: boolean
}
type MailLog = Record<'warn' | 'info', (details: object, message: string) => void>

/** What has become of a mail. A `retrying` one is queued again; the others are final. */
type MailOutcome = 'sent' | 'retrying' | 'refused'

type Attempt = {
  /** Milliseconds until the mail expires. */
  leftMs: number
  /** Aborts when the process is about to end. */
  signal: AbortSignal
}

type Sender<M> = {
  send: (mail: M, attempt: Attempt) => Promise<void>
  /** Called after each attempt. A rejection is only logged. */
  onOutcome?: (mail: M, outcome: MailOutcome) => Promise<void>
}

const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 15_000

/**
 * Makes the job that sends a mail. A mail that failed, or was interrupted by the end of the process, is queued again after 2, 4, 8
 * and then every 15 s, until it expires. A mail that its server refuses permanently is not queued again. A mail that was
 * sent whole without a reply may have arrived, and is queued again only once.
 */
export function sendUntilExpired<M extends ExpiringMail>(
  task: string,
  { send, onOutcome = async () => {} }: Sender<M>,
  { db, log }: { db: Db; log: MailLog },
): (mail: M, ending: { abortSignal: AbortSignal }) => Promise<void> {
  async function attempt(mail: M, { leftMs, signal }: Attempt): Promise<MailOutcome> {
    const to = maskEmail(mail.to)
    try {
      await send(mail, { leftMs, signal })
      log.info({ task, to }, 'mail sent')
      return 'sent'
    } catch (error) {
      const kind = error instanceof MailFailure ? error.kind : 'failed'
      const details = { task, to, ...detailsOf(error) }
      if (kind === 'refused') {
        log.warn(details, 'mail refused')
        return 'refused'
      }
      if (kind === 'unanswered' && mail.isUnanswered) {
        log.warn(details, 'mail sent twice without an answer')
        return 'sent'
      }
      log.warn(details, 'mail not sent, will retry')
      await queueAgain({ ...mail, isUnanswered: mail.isUnanswered || kind === 'unanswered' })
      return 'retrying'
    }
  }

  async function queueAgain(mail: M): Promise<void> {
    const tries = mail.tries ?? 0
    const wait = Math.min(FIRST_RETRY_MS * 2 ** tries, LONGEST_RETRY_MS)
    const payload = { ...mail, tries: tries + 1 }
    await addJob(db, task, { payload, afterMs: wait })
  }

  return async (mail, { abortSignal }) => {
    // By the database's clock, which set the time of expiry.
    const leftMs = mail.expiresAt - (await databaseTime(db))
    if (leftMs <= 0) return log.warn({ task, to: maskEmail(mail.to) }, 'mail given up')
    const outcome = await attempt(mail, { leftMs, signal: abortSignal })
    // A mail that was sent must not be sent again because its outcome could not be stored.
    await onOutcome(mail, outcome).catch((err) => log.warn({ task, err }, 'outcome not stored'))
  }
}

/** What may be logged of a failure. The server's own words could contain the address. */
function detailsOf(error: unknown) {
  if (!(error instanceof MailFailure)) return { code: (error as NodeJS.ErrnoException).code }
  const { code, reply, hint } = error
  return { code, ...(reply && { reply }), ...(hint && { hint }) }
}
