import { sql } from 'kysely'
import { type Db, openDatabase } from './database.ts'
import { isDatabaseUnavailable } from './database-errors.ts'

/** Runs a read of posts, for a visitor on a standby where one shows all that this node knows of. Rejects as the read does. */
export type RunRead = <T>(viewer: object | null, read: (db: Db) => Promise<T>) => Promise<T>

export type Replica = {
  runRead: RunRead
  /** Notes that posts have changed, or that this node may have missed a change. */
  noteChange(): void
  close(): Promise<void>
}

/** A standby is read while it shows what the primary had committed so long ago. */
const LAG_MAX_MS = 1000
/** After a change of posts reads go to the primary for so long: twice the lag, since the clocks of two machines differ. */
const AFTER_CHANGE_MS = 2 * LAG_MAX_MS
/** A standby that lags or fails is not asked again for so long. */
const REST_MS = 1000
/** A read that a standby does not answer within this time goes to the primary, which may take as long again. */
const LIMITS = { statementTimeoutMs: 1000, applicationName: 'vslukh standby' }

/**
 * Opens a pool on the standbys of a primary: `url` leads to one, or to a balancer that chooses one for each connection. The lag
 * is asked on the connection that is to read, because another one may lead to another standby.
 */
export function openReplica(url: string, primary: Db): Replica {
  const { db, close } = openDatabase(url, () => {}, LIMITS)
  let changedAt = performance.now()
  let restsUntil = 0

  /** Resolves to the result of a read on a standby; undefined where that shows too old a state. Rejects as the read does. */
  function readFromStandby<T>(read: (db: Db) => Promise<T>): Promise<{ result: T } | undefined> {
    return db.connection().execute(async (standby) => {
      // Below zero its clock is behind that of the primary.
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
 * Milliseconds since the primary made the last commit that a standby shows. While nobody writes that is longer than the standby
 * lags: it is then not read, and need not be. Zero for a server that was never a standby.
 */
async function lagOf(standby: Db): Promise<number> {
  const { rows } = await sql<{ lag: number }>`SELECT coalesce(1000 * extract(epoch FROM
    clock_timestamp() - pg_last_xact_replay_timestamp()), 0)::float8 AS lag`.execute(standby)
  return rows[0]?.lag ?? Number.POSITIVE_INFINITY
}
