import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { isConnectionLost, isOutOfConnections, isReadOnly } from './database-errors.ts'

const ANSWER_MS = 2000
const RETRY_MS = 500

type State = 'away' | 'out of connections' | 'read-only' | 'writable'

type OutageLog = Record<'error' | 'warn', (facts: object, message: string) => void>

/** A circuit breaker (docs/decisions/040-outages.md). An outage ends when writes are possible. */
export class Outage {
  readonly #url: string
  readonly #log: OutageLog
  readonly #closing = new AbortController()
  #state: State = 'writable'
  #isProbing = false
  #changed = Promise.withResolvers<void>()
  #counts = { refused: 0, served: 0 }

  constructor({ url, log }: { url: string; log: OutageLog }) {
    this.#url = url
    this.#log = log
  }

  /** Probes the database until it accepts writes. While it does not answer, the breaker is open. */
  suspect(reason: Error): void {
    if (this.isClosed() || this.#isProbing) return
    this.#isProbing = true
    void this.#probe(reason).finally(() => {
      this.#isProbing = false
      this.#wakeWaiting()
    })
  }

  /** Suspects an outage if the error may mean one, and returns whether its log lines cover it. */
  readonly reportFailure = (error: Error): boolean => {
    const mayMeanOutage = [isConnectionLost, isReadOnly, isOutOfConnections]
    if (!mayMeanOutage.some((isSo) => isSo(error))) return false
    this.suspect(error)
    return true
  }

  readonly reportRefusal = (error: Error): boolean => {
    const isLost = this.reportFailure(error)
    if (isLost) this.#counts.refused++
    return isLost
  }

  countStale(): void {
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

  #wakeWaiting(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  close(): void {
    this.#closing.abort()
    this.#wakeWaiting()
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
    this.#state = await probeState(this.#url)
    this.#wakeWaiting()
    return this.#state
  }
}

async function probeState(url: string): Promise<State> {
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
