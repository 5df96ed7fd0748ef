import { sql } from 'kysely'
import { type Db, openDatabase } from './database.ts'
import { isDatabaseUnavailable } from './database-errors.ts'

/** Runs a read of posts, for a visitor on a standby if one shows what its node has shown. */
export type RunRead = <T>(viewer: object | null, read: (db: Db) => Promise<T>) => Promise<T>

export type Replica = {
  /**
   * Resolves to undefined where no standby could be read, or none is recent enough. Rejects with
   * what else `read` rejects with.
   */
  tryRead<T>(read: (standby: Db) => Promise<T>): Promise<{ result: T } | undefined>
  /** Leaves the standby alone for a second. */
  rest(): void
  close(): Promise<void>
}

const LAG_MAX_MS = 1000
const REST_MS = 1000
/** A read that takes longer goes to the primary, which may take as long again. */
const LIMITS = { statementTimeoutMs: 1000, applicationName: 'vslukh standby' }

export function openReplica(url: string): Replica {
  const { db, close } = openDatabase(url, () => {}, LIMITS)
  let restsUntil = 0

  function rest(): void {
    restsUntil = performance.now() + REST_MS
  }

  /** The lag is asked on the connection that reads: another may lead to another standby. */
  async function readRecent<T>(read: (standby: Db) => Promise<T>) {
    return db.connection().execute(async (standby) => {
      // The lag is negative while the standby's clock is behind the primary's.
      const lag = Math.abs(await lagOf(standby))
      return lag < LAG_MAX_MS ? { result: await read(standby) } : undefined
    })
  }

  return {
    async tryRead(read) {
      if (performance.now() < restsUntil) return undefined
      // After a rest one read tries the standby before the others do.
      if (restsUntil > 0) rest()
      try {
        const done = await readRecent(read)
        if (done) restsUntil = 0
        else rest()
        return done
      } catch (error) {
        if (!isDatabaseUnavailable(error as Error)) {
          restsUntil = 0
          throw error
        }
        rest()
        return undefined
      }
    },

    rest,
    close,
  }
}

/**
 * Milliseconds since the last commit that a standby shows: at least its lag. Unknown, as infinity,
 * where it has replayed none since it started, such as a primary of before that has just come back.
 */
async function lagOf(standby: Db): Promise<number> {
  const { rows } = await sql<{ lag: number | null }>`SELECT CASE WHEN pg_is_in_recovery() THEN
    1000 * extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())
    ELSE 0 END::float8 AS lag`.execute(standby)
  return rows[0]?.lag ?? Number.POSITIVE_INFINITY
}
