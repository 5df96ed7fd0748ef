import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { Kysely } from 'kysely'
import type pg from 'pg'
import { type Db, openDatabase } from './database.ts'
import { databaseDialect } from './database-client.ts'
import { isDatabaseUnavailable } from './database-errors.ts'
import type { Tables } from './tables.ts'
import { covers, later, primaryPosition, shownPosition, type WalPosition } from './wal-position.ts'

/** Runs a read of posts: on a standby if that shows all that this node knows of, otherwise on the primary. Rejects as the read does. */
export type RunRead = <T>(read: (db: Db) => Promise<T>) => Promise<T>

export type Replica = {
  runRead: RunRead
  /**
   * Remembers that reads from now on have to show every change before a position of the primary. Where that is not known, standbys are
   * not read until they have been seen to show all that the primary has.
   */
  require(position: WalPosition | undefined): void
  /** Sets whether this node learns of the changes of others: standbys are not read while it does not. */
  setSubscribed(isSubscribed: boolean): void
  close(): Promise<void>
}

type Options = {
  /** The URL of a standby, or of several of which a balancer chooses one for each connection. */
  url: string
  primary: Db
  log: FastifyBaseLogger
}

/** A standby that has not been seen to show the primary's state of a second ago is not read. */
const LONGEST_LAG_MS = 1000
const CHECK_EVERY_MS = 250
/** A read waits so long for a standby to show a change. */
const CATCH_UP_MS = 10
/** How often whoever waits for that looks meanwhile. */
const LOOKS = 10
/** A read that a standby does not answer within this time goes to the primary, which may take as long again. */
const STATEMENT_TIMEOUT_MS = 1000

/**
 * Opens a pool on the standbys of a primary. Which changes a standby shows is asked on the very connection that is to read, because another
 * one may lead to another standby, and only if it has not shown them before. In the background the primary is asked for its position, and
 * a standby until it shows it: the time that takes is the lag.
 */
export function openReplica({ url, primary, log }: Options): Replica {
  const { pool, close } = openDatabase(url, () => {}, {
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: 'vslukh standby',
  })
  const databases = new WeakMap<pg.PoolClient, Db>()
  const shown = new WeakMap<pg.PoolClient, WalPosition>()
  const closing = new AbortController()
  let required: WalPosition | undefined
  let isSubscribed = false
  /** When standbys last showed all that the primary had at that time (monotonic ms). */
  let caughtUpAt = Number.NEGATIVE_INFINITY
  /** How often standbys became unusable: a check that began before proves nothing. */
  let suspensions = 0
  let wasUsable = false

  const isUsable = () => isSubscribed && performance.now() - caughtUpAt < LONGEST_LAG_MS

  function suspend(): void {
    caughtUpAt = Number.NEGATIVE_INFINITY
    suspensions++
  }

  function databaseOf(client: pg.PoolClient): Db {
    const known = databases.get(client)
    if (known) return known
    const db = new Kysely<Tables>({ dialect: databaseDialect({ pool: poolOf(pool, client) }) })
    databases.set(client, db)
    return db
  }

  /** Whether the server of a connection shows every change before `position`, now or within `ms`. */
  async function shows(client: pg.PoolClient, position: WalPosition, ms: number): Promise<boolean> {
    const until = performance.now() + ms
    while (!covers(shown.get(client), position)) {
      const now = await shownPosition(databaseOf(client))
      if (now) shown.set(client, now)
      if (covers(now, position)) break
      if (performance.now() >= until) return false
      await delay(ms / LOOKS)
    }
    return true
  }

  /** Resolves to the result of a read on a standby; undefined where none can be used. Rejects as the read does. */
  async function readFromStandby<T>(read: (db: Db) => Promise<T>, position: WalPosition) {
    const client = await pool.connect()
    try {
      if (!(await shows(client, position, CATCH_UP_MS))) return undefined
      return { result: await read(databaseOf(client)) }
    } finally {
      client.release()
    }
  }

  async function check(): Promise<void> {
    const [began, before] = [performance.now(), suspensions]
    const position = await primaryPosition(primary)
    if (!position) return
    required = later(required, position)
    const client = await pool.connect()
    try {
      const isCurrent = await shows(client, position, LONGEST_LAG_MS)
      if (isCurrent && before === suspensions) caughtUpAt = began
    } finally {
      client.release()
    }
  }

  async function keepChecking(): Promise<void> {
    while (!closing.signal.aborted) {
      // Whatever fails, the primary, a standby or the way there: without a check standbys are not read.
      await check().catch(() => {})
      if (wasUsable !== isUsable()) {
        wasUsable = !wasUsable
        log.info(wasUsable ? 'posts are read from standbys' : 'posts are read from the primary')
      }
      await delay(CHECK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  const checking = keepChecking()

  return {
    async runRead(read) {
      if (!required || !isUsable()) return read(primary)
      try {
        const done = await readFromStandby(read, required)
        if (done) return done.result
      } catch (error) {
        if (!isDatabaseUnavailable(error as Error)) throw error
      }
      suspend()
      return read(primary)
    },

    require(position) {
      if (position) required = later(required, position)
      else suspend()
    },

    setSubscribed(value) {
      isSubscribed = value
      suspend()
    },

    async close() {
      closing.abort()
      await checking
      await close()
    },
  }
}

/** A pool that lends one connection, which somebody else has borrowed already. */
function poolOf({ options }: pg.Pool, client: pg.PoolClient) {
  const lent = { query: client.query.bind(client), release() {} }
  return { options, connect: async () => lent, end: async () => {} }
}
