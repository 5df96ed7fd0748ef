import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { Kysely } from 'kysely'
import type pg from 'pg'
import { type Db, openDatabase } from './database.ts'
import { databaseDialect } from './database-client.ts'
import { isConnectionLost, isDatabaseUnavailable, isPoolFull } from './database-errors.ts'
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
  /** The URL of the primary, past a pooler. */
  primaryUrl: string
  log: FastifyBaseLogger
}

/** A standby that has not been seen to show the primary's state of a second ago is not read. */
const LONGEST_LAG_MS = 1000
const CHECK_EVERY_MS = 250
/** How often a check asks a standby whether it shows the primary's state, and how long it waits between. */
const CHECK = { times: 10, pauseMs: 100 }
/** The same for a read, which goes to the primary then; so do all others for a while. */
const READ = { times: 3, pauseMs: 2 }
const BEHIND_MS = 20
/** A read that a standby does not answer within this time goes to the primary, which may take as long again. */
const LIMITS = { statementTimeoutMs: 1000, applicationName: 'vslukh standby' }

/**
 * Opens a pool on the standbys of a primary. Which changes a standby shows is asked on the very connection that is to read, because another
 * one may lead to another standby, and only if it has not shown them before. In the background the primary is asked for its position, and
 * a standby until it shows it: the time that takes is the lag.
 */
export function openReplica({ url, primary, primaryUrl, log }: Options): Replica {
  const { pool, close } = openDatabase(url, () => {}, LIMITS)
  // Checks have connections of their own: behind the reads of a busy node they would find every standby too late.
  const checked = openDatabase(url, () => {}, { ...LIMITS, connections: 1 })
  const source = openDatabase(primaryUrl, () => {}, { ...LIMITS, connections: 1 })
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
  /** Until when reads do not ask a standby, because it was behind (monotonic ms). */
  let behindUntil = 0

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

  /** Whether the server of a connection shows every change before `position`, which is asked so many times. */
  async function shows(client: pg.PoolClient, position: WalPosition, { times, pauseMs } = READ) {
    for (let asked = 0; !covers(shown.get(client), position); asked++) {
      if (asked === times) return false
      if (asked > 0) await delay(pauseMs)
      const now = await shownPosition(databaseOf(client))
      if (now) shown.set(client, now)
    }
    return true
  }

  /** Resolves to the result of a read on a standby; undefined where none can be used. Rejects as the read does. */
  async function readFromStandby<T>(read: (db: Db) => Promise<T>, position: WalPosition) {
    const client = await pool.connect()
    try {
      if (!(await shows(client, position))) return undefined
      return { result: await read(databaseOf(client)) }
    } finally {
      client.release()
    }
  }

  async function check(): Promise<void> {
    const [began, before] = [performance.now(), suspensions]
    const position = await primaryPosition(source.db)
    if (!position) return
    required = later(required, position)
    const client = await checked.pool.connect()
    let isCurrent = false
    try {
      isCurrent = await shows(client, position, CHECK)
      if (isCurrent && before === suspensions) caughtUpAt = began
    } finally {
      // The next connection may lead to a better standby.
      client.release(!isCurrent)
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
      const lagsBehind = performance.now() < behindUntil
      if (!required || !isUsable() || lagsBehind) return read(primary)
      try {
        const done = await readFromStandby(read, required)
        if (done) return done.result
        behindUntil = performance.now() + BEHIND_MS
      } catch (error) {
        if (!isDatabaseUnavailable(error as Error)) throw error
        // Under load it is there all the same, and the primary should not get every other read as well.
        if (isConnectionLost(error as Error) && !isPoolFull(error as Error)) suspend()
      }
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
      await Promise.all([close(), checked.close(), source.close()])
    },
  }
}

/** A pool that lends one connection, which somebody else has borrowed already. */
function poolOf({ options }: pg.Pool, client: pg.PoolClient) {
  const lent = { query: client.query.bind(client), release() {} }
  return { options, connect: async () => lent, end: async () => {} }
}
