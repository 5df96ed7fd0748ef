import { databaseTime } from '../db/clock.ts'
import { addJob } from '../db/jobs.ts'
import type { Db } from '../db/open.ts'
import { maskEmail } from './mask-email.ts'

type Deadlined = { to: string; expiresAt: number; tries?: number }
type MailLog = {
  warn(details: object, message: string): void
  info(details: object, message: string): void
}

const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 15_000

/**
 * Makes the job that sends a mail: a failed one is queued again after 2, 4, 8, then every 15 s, as long as it is of use; so is one
 * that the process's end cuts short. `send` is told for how many milliseconds more it is of use.
 */
export function sendUntilExpired<M extends Deadlined>(
  task: string,
  send: (mail: M, leftMs: number) => Promise<void>,
  { db, log }: { db: Db; log: MailLog },
): (mail: M, stopping: Promise<never>) => Promise<void> {
  return async (mail, stopping) => {
    const to = maskEmail(mail.to)
    // By the database's clock, which set the deadline.
    const leftMs = mail.expiresAt - (await databaseTime(db))
    if (leftMs <= 0) return log.warn({ task, to }, 'mail given up')
    try {
      await Promise.race([send(mail, leftMs), stopping])
      log.info({ task, to }, 'mail sent')
    } catch (error) {
      const tries = mail.tries ?? 0
      const wait = Math.min(FIRST_RETRY_MS * 2 ** tries, LONGEST_RETRY_MS)
      log.warn(
        { task, to, code: (error as NodeJS.ErrnoException).code },
        'mail not sent, will retry',
      )
      await addJob(db, task, {
        payload: { ...mail, tries: tries + 1 },
        afterMs: wait,
      })
    }
  }
}
