import { sql } from 'kysely'
import { type Db, openDatabase } from './database.ts'
import { isDatabaseUnavailable } from './database-errors.ts'

/** Runs a read of posts, for a visitor on a standby if one is recent enough. */
export type RunRead = <T>(viewer: object | null, read: (db: Db) => Promise<T>) => Promise<T>

export type Replica = {
  runRead: RunRead
  /** Records that posts have changed, or that this node may have missed a change. */
  noteChange(): void
  close(): Promise<void>
}

const LAG_MAX_MS = 1000
/** Twice the lag, since the clocks of two machines differ. */
const AFTER_CHANGE_MS = 2 * LAG_MAX_MS
const REST_MS = 1000
/** A read that takes longer goes to the primary, which may take as long again. */
const LIMITS = { statementTimeoutMs: 1000, applicationName: 'vslukh standby' }

/** The lag is asked on the connection that reads: another may lead to another standby. */
export function openReplica(url: string, primary: Db): Replica {
  const { db, close } = openDatabase(url, () => {}, LIMITS)
  let changedAt = performance.now()
  let restsUntil = 0

  /** Resolves to undefined if the standby's state is too old. */
  function readFromStandby<T>(read: (db: Db) => Promise<T>): Promise<{ result: T } | undefined> {
    return db.connection().execute(async (standby) => {
      // The lag is negative while the standby's clock is behind the primary's.
      const lag = Math.abs(await lagOf(standby))
      return lag < LAG_MAX_MS ? { result: await read(standby) } : undefined
    })
  }

  return {
    async runRead(viewer, read) {
      const now = performance.now()
      if (viewer || now < restsUntil || now - changedAt < AFTER_CHANGE_MS) return read(primary)
      // After a rest one read tries the standby before the others do.
      if (restsUntil > 0) restsUntil = now + REST_MS
      try {
        const done = await readFromStandby(read)
        restsUntil = done ? 0 : now + REST_MS
        if (done) return done.result
      } catch (error) {
        if (!isDatabaseUnavailable(error as Error)) throw error
        restsUntil = performance.now() + REST_MS
      }
      return read(primary)
    },

    noteChange() {
      changedAt = performance.now()
    },

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
