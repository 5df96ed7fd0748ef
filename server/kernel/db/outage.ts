import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import {
  isConnectionLost,
  isDatabaseUnavailable,
  isOutOfConnections,
  isReadOnly,
} from './database-errors.ts'

const ANSWER_MS = 2000
const RETRY_MS = 500

class DatabaseAwayError extends Error {
  /** The SQLSTATE of a connection that cannot be established. */
  readonly code = '08001'

  constructor() {
    super('The database is away')
  }
}

type State = 'away' | 'out of connections' | 'read-only' | 'writable'

/** A circuit breaker (docs/decisions/040-outages.md). An outage ends when writes are possible. */
export class Outage {
  readonly #url: string
  readonly #log: Pick<JobsLog, 'error' | 'warn'>
  readonly #closing = new AbortController()
  #state: State = 'writable'
  #isProbing = false
  #changed = Promise.withResolvers<void>()
  #counts = { refused: 0, served: 0 }

  constructor({ url, log }: { url: string; log: Pick<JobsLog, 'error' | 'warn'> }) {
    this.#url = url
    this.#log = log
  }

  /** Probes the database until it accepts writes. While it does not answer, the breaker is open. */
  suspect(reason: Error): void {
    if (this.isClosed() || this.#isProbing) return
    this.#isProbing = true
    void this.#probe(reason).finally(() => {
      this.#isProbing = false
      this.#noteChange()
    })
  }

  /** Suspects an outage if the error may mean one, and returns whether its log lines cover it. */
  readonly noteFailure = (error: Error): boolean => {
    const mayMeanOutage = [isConnectionLost, isReadOnly, isOutOfConnections]
    if (!mayMeanOutage.some((isSo) => isSo(error))) return false
    this.suspect(error)
    return true
  }

  readonly noteRefused = (error: Error): boolean => {
    const isLost = this.noteFailure(error)
    if (isLost) this.#counts.refused++
    return isLost
  }

  noteStale(): void {
    this.#counts.served++
  }

  isAway(): boolean {
    return this.#state === 'away'
  }

  isSuspected(): boolean {
    return this.#isProbing
  }

  /** Resolves once an open connection can write, or this watch is closed. */
  whenWritable(): Promise<void> {
    return this.#whenOverOr('out of connections')
  }

  /** Resolves once a new connection can read, or this watch is closed. */
  whenReadable(): Promise<void> {
    return this.#whenOverOr('read-only')
  }

  async #whenOverOr(state: State): Promise<void> {
    while (this.#isProbing && this.#state !== state && !this.isClosed()) {
      await this.#changed.promise
    }
  }

  #noteChange(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  close(): void {
    this.#closing.abort()
    this.#noteChange()
  }

  async #probe({ message: reason }: Error): Promise<void> {
    const { signal } = this.#closing
    const began = performance.now()
    let isLogged = false
    this.#counts = { refused: 0, served: 0 }
    while ((await this.#askState()) !== 'writable' && !signal.aborted) {
      if (!isLogged) this.#log.error({ reason }, `the database is ${this.#state}`)
      isLogged = true
      await delay(RETRY_MS, undefined, { signal }).catch(() => {})
    }
    const seconds = Math.round((performance.now() - began) / 1000)
    const facts = { seconds, ...this.#counts }
    if (isLogged && !signal.aborted) this.#log.warn(facts, 'the database is back')
    else if (facts.refused > 0) {
      this.#log.warn({ ...facts, reason }, 'the database refused for a moment')
    }
  }

  async #askState(): Promise<State> {
    this.#state = await stateOf(this.#url)
    this.#noteChange()
    return this.#state
  }
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: pg.PoolClient['release'],
) => void

export class GuardedPool extends pg.Pool {
  readonly #outage: Outage
  readonly #waitsDuringOutage: boolean

  constructor(config: pg.PoolConfig, outage: Outage, waitsDuringOutage: boolean) {
    super(config)
    this.#outage = outage
    this.#waitsDuringOutage = waitsDuringOutage
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const connecting = this.#waitsDuringOutage ? this.#connectOnceBack() : this.#connectNow()
    if (!callback) return connecting
    connecting.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    )
    return undefined
  }

  #connectNow(): Promise<pg.PoolClient> {
    if (this.#outage.isAway()) return Promise.reject(new DatabaseAwayError())
    const connecting = super.connect()
    connecting.catch(this.#outage.noteFailure)
    return connecting
  }

  async #connectOnceBack(): Promise<pg.PoolClient> {
    for (;;) {
      await this.#outage.whenWritable()
      try {
        return await this.#connectNow()
      } catch (error) {
        const mayWait = error instanceof Error && isConnectionLost(error)
        if (!mayWait || this.#outage.isClosed()) throw error
      }
    }
  }
}

type JobsLog = Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>

/** Returns a log that leaves out errors which the log lines of an outage cover. */
export function quietDuringOutages(
  log: JobsLog,
  outage: Pick<Outage, 'noteFailure' | 'isSuspected'>,
) {
  return {
    debug: (facts: object, message: string) => log.debug(facts, message),
    info: (facts: object, message: string) => log.info(facts, message),
    warn({ err, ...facts }: { err?: Error }, message: string): void {
      if (err && outage.noteFailure(err)) return
      log.warn({ ...facts, ...causeOf(err) }, message)
    },
    error({ err, ...facts }: { err?: Error }, message: string): void {
      const isLost = err ? outage.noteFailure(err) : outage.isSuspected()
      if (!isLost) log.error({ ...facts, ...causeOf(err) }, message)
    },
  }
}

/** Returns an error for the log: without its stack, if the database cannot serve. */
const causeOf = (err: Error | undefined) =>
  err && isDatabaseUnavailable(err) ? { reason: err.message } : { err }

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
    if (isOutOfConnections(error as Error)) return 'out of connections'
    const isThere = error instanceof Error && 'severity' in error && !isConnectionLost(error)
    return isThere ? 'writable' : 'away'
  } finally {
    // Not awaited, because it does not resolve if the server does not answer.
    client.end().catch(() => {})
  }
}

/** Settles as `work`, or after `ms` as `onMissed`. */
export async function withDeadline<T, M>(
  work: Promise<T>,
  ms: number,
  onMissed: () => M,
): Promise<T | M> {
  const { promise: deadline, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  return Promise.race([work, deadline.then(onMissed)]).finally(() => clearTimeout(timer))
}

export function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return withDeadline(
    work.then(() => true),
    ms,
    () => false,
  )
}
