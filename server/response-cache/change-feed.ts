import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { batchCalls } from '../db/batch-calls.ts'
import type { Db } from '../db/database.ts'
import { endsWithin } from '../db/deadline.ts'
import type { Outage } from '../db/outage.ts'
import { PRIMARY_POSITION, parsePosition, type WalPosition } from '../db/wal-position.ts'
import type { Change } from './change.ts'
import { CHANNEL, confirm, FEED_NAME, OPERATOR } from './operator-changes.ts'

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 2000
const CONNECTION_WAIT_MS = 3000
/** A connection that does not answer for so long may have missed changes. */
const LONGEST_SILENCE_MS = 1000
/** The pause between two questions whether the connection lives. */
const HEARTBEAT_MS = 500

const NO_POSITION = sql`SELECT NULL::text AS position`

type Subscriber = {
  /**
   * Called for each change on another node, with a position of the primary's log before which the change is, where that is known.
   */
  onChange: (change: Change, position?: WalPosition) => void
  /** Called when changes of other nodes begin to arrive, or no longer do. */
  onSubscribed: (isSubscribed: boolean) => void
  /** Called each half second while they arrive, with a moment (ms, monotonic) before which none was missed. */
  onConfirmed: (at: number) => void
}

export type ChangeFeed = {
  /**
   * Publishes a change to the other nodes; resolves when PostgreSQL has accepted it, to a position of the primary's log before which the
   * change is, if nodes need to know.
   */
  publish(change: Change): Promise<WalPosition | undefined>
  /**
   * Resolves when this node has received every change that was published before the call; where its connection does not
   * answer, changes count as no longer arriving instead. Never rejects.
   */
  awaitChanges(): Promise<void>
  close(): Promise<void>
}

type FeedOptions = Subscriber & {
  /** URL of the database, for a connection of the feed's own. */
  url: string
  /**
   * Whether other nodes may use the database. If not, only operators' commands publish changes, and this node need neither
   * publish its own nor wait for those of others.
   */
  isShared: boolean
  outage: Pick<Outage, 'suspect' | 'whenAvailable'>
  /** Whether nodes read from standbys, and need to know where in the primary's log a change is. */
  hasReplica: boolean
}

/**
 * Publishes changes to the nodes that share a database and subscribes to theirs, over NOTIFY and LISTEN. A change is
 * published in a statement of its own after the commit: within the transaction it would make commits queue for one lock.
 */
export function openChangeFeed(
  db: Db,
  { url, isShared, hasReplica, outage, ...subscriber }: FeedOptions,
): ChangeFeed {
  const node = randomUUID()
  const closing = new AbortController()
  let client: pg.Client | undefined
  const subscribing = keepSubscribed()

  async function keepSubscribed(): Promise<void> {
    for (
      let wait = FIRST_RETRY_MS;
      !closing.signal.aborted;
      wait = Math.min(wait * 2, LONGEST_RETRY_MS)
    ) {
      await outage.whenAvailable()
      const connection = await subscribe().catch(() => undefined)
      if (connection) {
        wait = FIRST_RETRY_MS
        subscriber.onSubscribed(true)
        const ended = new AbortController()
        void keepAsking(ended.signal)
        await connection.end
        ended.abort()
        subscriber.onSubscribed(false)
        if (!closing.signal.aborted) outage.suspect(new Error('The change feed broke off'))
      }
      await delay(wait, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  /** Asks each half second until `ended`, so that a connection that no longer lives is known as such. */
  async function keepAsking(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      const asked = performance.now()
      if (await ask(undefined)) subscriber.onConfirmed(asked)
      await delay(HEARTBEAT_MS, undefined, { signal: ended }).catch(() => {})
    }
  }

  /** Subscribes over a new connection; `end` of the result resolves when that ends. */
  async function subscribe(): Promise<{ end: Promise<void> }> {
    const fresh = new pg.Client({
      connectionString: url,
      application_name: FEED_NAME,
      connectionTimeoutMillis: CONNECTION_WAIT_MS,
      keepAlive: true,
    })
    const { promise: end, resolve } = Promise.withResolvers<void>()
    fresh.on('error', () => {}).once('end', resolve)
    fresh.on('notification', ({ payload = '' }) => {
      const [head = '', ...words] = payload.split(' ')
      const [sender = '', position] = head.split('@')
      const change = changeOf(words)
      if (change === undefined || sender === node) return
      subscriber.onChange(change, parsePosition(position))
      if (sender.startsWith(OPERATOR)) confirm(fresh, sender)
    })
    await fresh.connect()
    client = fresh
    // The feed was closed meanwhile: nobody else will end this connection.
    if (closing.signal.aborted) await fresh.end()
    else await listen(fresh)
    return { end }
  }

  // Changes that come while a statement is under way share the next one.
  const publish = batchCalls(async (changes: Change[]) => {
    const position = hasReplica ? PRIMARY_POSITION : NO_POSITION
    const { rows } = await sql<{ position: string | null }>`
      SELECT position, pg_notify(${CHANNEL}, concat_ws('@', ${node}::text, position) || ' ' || change)
      FROM unnest(${[...new Set(changes)]}::text[]) change, (${position}) here`.execute(db)
    return changes.map(() => parsePosition(rows[0]?.position))
  })

  // PostgreSQL delivers a connection's notifications before it answers a query on it.
  const ask = batchCalls(async (calls: undefined[]) => {
    const asked = client
    const isAlive =
      asked !== undefined && (await isAnswered(asked.query('SELECT')).catch(() => false))
    if (asked && !isAlive) {
      subscriber.onSubscribed(false)
      // Another connection takes its place: this one would delay every further call.
      asked.end().catch(() => {})
      if (client === asked) client = undefined
    }
    return calls.map(() => isAlive)
  })

  return {
    publish: isShared ? publish : async () => undefined,
    async awaitChanges() {
      if (isShared) await ask(undefined)
    },
    async close() {
      closing.abort()
      await client?.end()
      await subscribing
    },
  }
}

/** Subscribes a connection. Ends it and throws where that is refused, or not answered. */
async function listen(client: pg.Client): Promise<void> {
  try {
    if (await isAnswered(client.query(`LISTEN ${CHANNEL}`))) return
    throw new Error('LISTEN was not answered')
  } catch (error) {
    // A standby that is about to become the primary refuses for a moment, and keeps the connection.
    client.end().catch(() => {})
    throw error
  }
}

/**
 * Whether a connection answers a query in time. Two timers, since an answer may wait unread while this process is busy for longer than
 * one. Rejects as the query does.
 */
async function isAnswered(answer: Promise<unknown>): Promise<boolean> {
  const isInTime = () => endsWithin(answer, LONGEST_SILENCE_MS / 2)
  return (await isInTime()) || isInTime()
}

/** Returns the change that the words of a notification name; of one about posts that this release does not know, all posts. */
function changeOf([kind, how, id]: string[]): Change | undefined {
  if (kind === 'likes') return how === undefined ? 'likes' : `likes ${how}`
  if (kind !== 'posts') return undefined
  if (how === 'added') return 'posts added'
  return how === 'changed' && id !== undefined ? `posts changed ${id}` : 'posts'
}
