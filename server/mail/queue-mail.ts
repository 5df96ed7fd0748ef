import { randomUUID } from 'node:crypto'
import type { Queryable } from '../db/database.ts'
import { addJob } from '../queue/queue.ts'

/** What every queued mail says of itself. */
export type QueuedMail = {
  to: string
  /** In unix milliseconds. The mail is not sent after it. */
  expiresAt: number
  /** Mails with the same key are one mail: while it waits, another is not queued. */
  key?: string
  /** Somebody waits for it: it is sent before others. */
  isUrgent?: boolean
}

const URGENT = -1

/** Queues a mail, unless one with its key waits already. In a transaction it is queued when that commits. */
export function queueMail<M extends QueuedMail>(
  db: Queryable,
  task: string,
  mail: M,
): Promise<void> {
  // Its own key, where it has no other, lets its next try take the place of the one that runs.
  return addMailJob(db, { task, mail: { key: randomUUID(), ...mail }, onSameKey: 'keep' })
}

/** Queues a mail whose job is running once more, to be sent after `afterMs` milliseconds. */
export function queueAgain<M extends QueuedMail>(
  db: Queryable,
  task: string,
  { mail, afterMs }: { mail: M; afterMs: number },
): Promise<void> {
  return addMailJob(db, { task, mail, afterMs, onSameKey: 'replace' })
}

type MailJob = {
  task: string
  mail: QueuedMail
  afterMs?: number
  onSameKey: 'keep' | 'replace'
}

function addMailJob(db: Queryable, { task, mail, afterMs = 0, onSameKey }: MailJob) {
  const key = mail.key === undefined ? {} : { key: mail.key, onSameKey }
  return addJob(db, task, {
    payload: mail,
    afterMs,
    ...(mail.isUrgent && { priority: URGENT }),
    ...key,
  })
}
