import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { isConnectionLost } from './database-errors.ts'

/** How long the database may take to accept a connection and to answer on it. */
const ANSWER_MS = 2000
/** The pause between two attempts to reach a database that is away. */
const RETRY_MS = 500

/** Thrown in place of trying while the database is known to be away. */
export class DatabaseAwayError extends Error {
  /** PostgreSQL's state “cannot establish a connection”, by which every reader of errors knows it. */
  readonly code = '08001'

  constructor() {
    super('The database is away')
  }
}

type OutageLog = {
  error(facts: object, message: string): void
  warn(facts: object, message: string): void
}

/** What one node knows about whether its database can be reached. */
export type Outage = ReturnType<typeof watchOutages>

/**
 * Watches whether the database at `url` can be reached, as a circuit breaker. Once a connection was lost it asks by a connection of
 * its own: without an answer the breaker opens, so that nobody tries in vain, and the first answer to one of the probes, each half
 * second, closes it. Each outage writes two lines to the log: at its begin, and at its end with the seconds and what was counted.
 */
export function watchOutages({ url, log }: { url: string; log: OutageLog }) {
  const closing = new AbortController()
  const closed = new Promise((resolve) => closing.signal.addEventListener('abort', resolve))
  const refusals = new Set<(error: Error) => void>()
  let isOpen = false
  let probing: Promise<void> | undefined
  let counts = { refused: 0, served: 0 }

  /** Reports that a connection broke, could not be opened, or did not answer. */
  function suspect(reason: Error): void {
    if (closing.signal.aborted) return
    probing ??= probe(reason).finally(() => {
      probing = undefined
    })
  }

  async function probe({ message: reason }: Error): Promise<void> {
    const { signal } = closing
    const began = performance.now()
    counts = { refused: 0, served: 0 }
    while (!(await answers(url)) && !signal.aborted) {
      if (!isOpen) open(reason)
      await delay(RETRY_MS, undefined, { signal }).catch(() => {})
    }
    const wasOpen = isOpen
    isOpen = false
    const facts = { seconds: Math.round((performance.now() - began) / 1000), ...counts }
    if (wasOpen && !signal.aborted) log.warn(facts, 'the database is back')
    else if (counts.refused > 0) log.warn({ ...facts, reason }, 'the database refused for a moment')
  }

  function open(reason: string): void {
    isOpen = true
    log.error({ reason }, 'the database is away')
    for (const refuse of refusals) refuse(new DatabaseAwayError())
  }

  /** Reports an error of the database; returns whether it means that the outage's own lines speak of it. */
  function noteFailure(error: Error): boolean {
    if (!isConnectionLost(error)) return false
    suspect(error)
    return true
  }

  return {
    suspect,
    noteFailure,
    isAway: (): boolean => isOpen,

    /** Whether a connection was lost and the database has not answered since. */
    isSuspected: (): boolean => probing !== undefined,

    /** As `noteFailure`, for the error with which a request was refused: it is counted. */
    noteRefused(error: Error): boolean {
      const isLost = noteFailure(error)
      if (isLost) counts.refused++
      return isLost
    },

    /** Counts a visitor's read that was served with a stale response. */
    noteStale(): void {
      counts.served++
    },

    /** Resolves or rejects as `work`; rejects with DatabaseAwayError as soon as the breaker opens. */
    async orAway<T>(work: T | Promise<T>): Promise<T> {
      if (!(work instanceof Promise)) return work
      const { promise, reject } = Promise.withResolvers<never>()
      refusals.add(reject)
      return Promise.race([work, promise]).finally(() => refusals.delete(reject))
    },

    /** Resolves when the database is not known to be away, or this watch is closed; never rejects. */
    async whenAvailable(): Promise<void> {
      if (probing) await Promise.race([probing, closed])
    },

    /** Whether this watch was closed, so that nobody will say when the database is back. */
    isClosed: (): boolean => closing.signal.aborted,

    close(): void {
      closing.abort()
    },
  }
}

type JobsLog = Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>

/** Returns a log for work in the background: while the database is away, its errors about that stay out. */
export function quietDuringOutages(
  log: JobsLog,
  outage: Pick<Outage, 'noteFailure' | 'isSuspected'>,
) {
  return {
    debug: (facts: object, message: string) => log.debug(facts, message),
    info: (facts: object, message: string) => log.info(facts, message),
    warn(facts: { err?: Error }, message: string): void {
      if (!facts.err || !outage.noteFailure(facts.err)) log.warn(facts, message)
    },
    error(facts: { err?: Error }, message: string): void {
      const isLost = facts.err ? outage.noteFailure(facts.err) : outage.isSuspected()
      if (!isLost) log.error(facts, message)
    },
  }
}

/** Whether the database accepts a connection and answers on it. A server with no room for one more is there. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'vslukh outage watch',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT')
    return true
  } catch (error) {
    return error instanceof Error && 'severity' in error && !isConnectionLost(error)
  } finally {
    // Not awaited: with a server that does not answer it could take for ever.
    client.end().catch(() => {})
  }
}
