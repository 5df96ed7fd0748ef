import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { isConnectionLost, isDatabaseUnavailable, isReadOnly } from './database-errors.ts'

const ANSWER_MS = 2000
const RETRY_MS = 500

export class DatabaseAwayError extends Error {
  /** PostgreSQL's “cannot establish a connection”, which every reader of errors knows. */
  readonly code = '08001'

  constructor() {
    super('The database is away')
  }
}

type OutageLog = {
  error(facts: object, message: string): void
  warn(facts: object, message: string): void
}

export type Outage = ReturnType<typeof watchOutages>

type State = 'away' | 'read-only' | 'writable'

/**
 * A circuit breaker. After a lost connection it asks the database by a connection of its own, and
 * opens if that gets no answer. Each half second a probe asks, and the first answer closes it. Of a
 * database that turns read-only, as a primary that steps down does, it is closed: reads go on. The
 * outage ends when writes are possible.
 */
export function watchOutages({ url, log }: { url: string; log: OutageLog }) {
  const closing = new AbortController()
  const closed = new Promise((resolve) => closing.signal.addEventListener('abort', resolve))
  const refusals = new Set<(error: Error) => void>()
  let state: State = 'writable'
  let probing: Promise<void> | undefined
  let counts = { refused: 0, served: 0 }

  function suspect(reason: Error): void {
    if (closing.signal.aborted) return
    probing ??= probe(reason).finally(() => {
      probing = undefined
    })
  }

  async function probe({ message: reason }: Error): Promise<void> {
    const { signal } = closing
    const began = performance.now()
    let isTold = false
    counts = { refused: 0, served: 0 }
    while ((await askState()) !== 'writable' && !signal.aborted) {
      if (!isTold) log.error({ reason }, `the database is ${state}`)
      isTold = true
      await delay(RETRY_MS, undefined, { signal }).catch(() => {})
    }
    const facts = { seconds: Math.round((performance.now() - began) / 1000), ...counts }
    if (isTold && !signal.aborted) log.warn(facts, 'the database is back')
    else if (counts.refused > 0) log.warn({ ...facts, reason }, 'the database refused for a moment')
  }

  async function askState(): Promise<State> {
    const before = state
    state = await stateOf(url)
    if (state === 'away' && before !== 'away') {
      for (const refuse of refusals) refuse(new DatabaseAwayError())
    }
    return state
  }

  /** Returns whether the lines about the outage cover this error of the database. */
  function noteFailure(error: Error): boolean {
    if (!isConnectionLost(error) && !isReadOnly(error)) return false
    suspect(error)
    return true
  }

  return {
    suspect,
    noteFailure,
    isAway: (): boolean => state === 'away',

    isSuspected: (): boolean => probing !== undefined,

    /** Counts the error of a refused request, and returns what `noteFailure` returns. */
    noteRefused(error: Error): boolean {
      const isLost = noteFailure(error)
      if (isLost) counts.refused++
      return isLost
    },

    noteStale(): void {
      counts.served++
    },

    /** Settles as `work`, or rejects with DatabaseAwayError as soon as the breaker opens. */
    async orAway<T>(work: T | Promise<T>): Promise<T> {
      if (!(work instanceof Promise)) return work
      const { promise, reject } = Promise.withResolvers<never>()
      refusals.add(reject)
      return Promise.race([work, promise]).finally(() => refusals.delete(reject))
    },

    /** Resolves once nothing is known against writes, or this watch is closed. */
    async whenWritable(): Promise<void> {
      if (probing) await Promise.race([probing, closed])
    },

    /** Resolves once the database is not known to be away, or this watch is closed. */
    async whenReadable(): Promise<void> {
      while (probing && state !== 'read-only' && !closing.signal.aborted) {
        await Promise.race([probing, closed, delay(RETRY_MS, undefined, { ref: false })])
      }
    },

    isClosed: (): boolean => closing.signal.aborted,

    close(): void {
      closing.abort()
    },
  }
}

type JobsLog = Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>

/**
 * Returns a log that leaves out errors about the database that the lines of an outage cover. Of one
 * that is warned of, such as the wait for a lock, the reason is enough: what failed is repeated.
 */
export function quietDuringOutages(
  log: JobsLog,
  outage: Pick<Outage, 'noteFailure' | 'isSuspected'>,
) {
  return {
    debug: (facts: object, message: string) => log.debug(facts, message),
    info: (facts: object, message: string) => log.info(facts, message),
    warn({ err, ...facts }: { err?: Error }, message: string): void {
      if (err && outage.noteFailure(err)) return
      const cause = err && isDatabaseUnavailable(err) ? { reason: err.message } : { err }
      log.warn({ ...facts, ...cause }, message)
    },
    error(facts: { err?: Error }, message: string): void {
      const isLost = facts.err ? outage.noteFailure(facts.err) : outage.isSuspected()
      if (!isLost) log.error(facts, message)
    },
  }
}

/** A server without room for one more connection is there. */
async function stateOf(url: string): Promise<State> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'vslukh outage watch',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('SHOW transaction_read_only')
    return rows[0]?.transaction_read_only === 'on' ? 'read-only' : 'writable'
  } catch (error) {
    const isThere = error instanceof Error && 'severity' in error && !isConnectionLost(error)
    return isThere ? 'writable' : 'away'
  } finally {
    // Not awaited: a server that does not answer could take for ever.
    client.end().catch(() => {})
  }
}
