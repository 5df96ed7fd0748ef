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
 * Watches whether the database at `url` can be reached. It asks by a connection of its own, and only when something was
 * reported to have failed: then every half second until the database answers. Each outage writes two lines to the log: at its
 * begin, and at its end with the seconds and what was counted meanwhile.
 */
export function watchOutages({ url, log }: { url: string; log: OutageLog }) {
  const closing = new AbortController()
  const closed = new Promise((resolve) => closing.signal.addEventListener('abort', resolve))
  const refusals = new Set<(error: Error) => void>()
  let state: 'available' | 'doubtful' | 'away' = 'available'
  let checking = Promise.resolve()
  let suspectedAt = 0
  let answered = Promise.withResolvers<boolean>()
  let counts = noCounts()

  /** Reports that a connection broke, could not be opened, or did not answer. */
  function suspect(reason: Error): void {
    if (state !== 'available' || closing.signal.aborted) return
    state = 'doubtful'
    suspectedAt = performance.now()
    answered = Promise.withResolvers()
    checking = check(reason)
  }

  async function check({ message: reason }: Error): Promise<void> {
    // On a busy machine a connection that is open answers sooner than a new one.
    const isAway = !(await Promise.race([answers(url), answered.promise]))
    if (isAway && !closing.signal.aborted) {
      state = 'away'
      log.error({ reason }, 'the database is away')
      for (const refuse of refusals) refuse(new DatabaseAwayError())
      await untilBack()
    }
    state = 'available'
    const facts = { seconds: Math.round((performance.now() - suspectedAt) / 1000), ...counts }
    if (isAway && !closing.signal.aborted) log.warn(facts, 'the database is back')
    else if (counts.refused > 0) log.warn({ ...facts, reason }, 'the database refused for a moment')
    counts = noCounts()
  }

  async function untilBack(): Promise<void> {
    const { signal } = closing
    do {
      await delay(RETRY_MS, undefined, { signal }).catch(() => {})
    } while (!signal.aborted && !(await answers(url)))
  }

  /** Reports an error of the database; returns whether it means that the outage's own lines speak of it. */
  function noteFailure(error: Error): boolean {
    if (!isConnectionLost(error)) return false
    suspect(error)
    return true
  }

  return {
    /** Notes that the database has answered a question that was asked at a moment, by the monotonic clock (ms). */
    noteAnswer(askedAt: number): void {
      if (askedAt >= suspectedAt) answered.resolve(true)
    },

    suspect,
    noteFailure,
    isAway: (): boolean => state === 'away',

    /** Whether something has failed and it is not yet known whether the database is away, or it is. */
    isDoubtful: (): boolean => state !== 'available',

    /** As `noteFailure`, for the error with which a request was refused: it is counted. */
    noteRefused(error: Error): boolean {
      const isLost = noteFailure(error)
      if (isLost) counts.refused++
      return isLost
    },

    /** Counts a visitor's read that was served, during an outage, from what was saved before. */
    noteSaved(): void {
      if (state !== 'available') counts.served++
    },

    /** Resolves or rejects as `work`; rejects with DatabaseAwayError as soon as an outage begins. */
    orAway<T>(work: Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      refusals.add(reject)
      work.then(resolve, reject).finally(() => refusals.delete(reject))
      return promise
    },

    /** Resolves when the database is not known to be away, or this watch is closed; never rejects. */
    async whenAvailable(): Promise<void> {
      if (state !== 'available') await Promise.race([checking, closed])
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
  outage: Pick<Outage, 'noteFailure' | 'isDoubtful'>,
) {
  return {
    debug: (facts: object, message: string) => log.debug(facts, message),
    info: (facts: object, message: string) => log.info(facts, message),
    warn(facts: { err?: Error }, message: string): void {
      if (!facts.err || !outage.noteFailure(facts.err)) log.warn(facts, message)
    },
    error(facts: { err?: Error }, message: string): void {
      const isLost = facts.err ? outage.noteFailure(facts.err) : outage.isDoubtful()
      if (!isLost) log.error(facts, message)
    },
  }
}

/** Requests refused for want of the database, and visitors' reads served from what was saved. */
function noCounts() {
  return { refused: 0, served: 0 }
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
