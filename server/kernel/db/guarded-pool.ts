import pg from 'pg'
import { isConnectionLost } from './database-errors.ts'
import type { Outage } from './outage.ts'

class DatabaseAwayError extends Error {
  /** The SQLSTATE of a connection that cannot be established. */
  readonly code = '08001'

  constructor() {
    super('The database is away')
  }
}

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: pg.PoolClient['release'],
) => void

/** A pool that opens no connection while the database is away: it refuses at once, or waits. */
export class GuardedPool extends pg.Pool {
  readonly #outage: Outage
  readonly #waitsDuringOutage: boolean

  constructor(config: pg.PoolConfig, outage: Outage, waitsDuringOutage: boolean) {
    super(config)
    this.#outage = outage
    this.#waitsDuringOutage = waitsDuringOutage
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: ConnectCallback): void
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
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
    connecting.catch(this.#outage.reportFailure)
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
