import pg from 'pg'
import { isConnectionLost } from './database-errors.ts'
import { DatabaseAwayError, type Outage } from './outage.ts'

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: pg.PoolClient['release'],
) => void

/** Refuses while its database is away, or makes callers wait if `waitsDuringOutage`. */
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
      await this.#outage.whenAvailable()
      try {
        return await this.#connectNow()
      } catch (error) {
        const mayWait = error instanceof Error && isConnectionLost(error)
        if (!mayWait || this.#outage.isClosed()) throw error
      }
    }
  }
}
