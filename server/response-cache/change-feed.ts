import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { batchCalls } from '../db/batch-calls.ts'
import type { Db } from '../db/database.ts'
import { endsWithin } from '../db/deadline.ts'
import type { Change } from './cache.ts'

const CHANNEL = 'vslukh'
/** Where nodes confirm that they have received a change of an operator's command. */
const HEARD_CHANNEL = 'vslukh_heard'
const OPERATOR = 'operator-'
const FEED_NAME = 'vslukh change feed'
/** A node that does not confirm within this time is frozen or gone. */
const LONGEST_HEARING_MS = 2000
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 2000
const CONNECTION_WAIT_MS = 3000
/** A connection that does not answer for so long may have missed changes. */
const LONGEST_SILENCE_MS = 1000

type Subscriber = {
  /** Called for each change on another node. */
  onChange: (change: Change) => void
  /** Called when changes of other nodes begin to arrive, or no longer do. */
  onSubscribed: (isSubscribed: boolean) => void
}

export type ChangeFeed = {
  /** Publishes a change to the other nodes; resolves when PostgreSQL has accepted it. */
  publish(change: Change): Promise<void>
  /**
   * Resolves when this node has received every change that was published before the call; where its connection does not
   * answer, everything counts as changed instead. Never rejects.
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
}

/**
 * Publishes changes to the nodes that share a database and subscribes to theirs, over NOTIFY and LISTEN. A change is
 * published in a statement of its own after the commit: within the transaction it would make commits queue for one lock.
 */
export function openChangeFeed(db: Db, { url, isShared, ...subscriber }: FeedOptions): ChangeFeed {
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
      const connection = await subscribe().catch(() => undefined)
      if (connection) {
        wait = FIRST_RETRY_MS
        subscriber.onSubscribed(true)
        await connection.end
        subscriber.onSubscribed(false)
      }
      await delay(wait, undefined, { signal: closing.signal }).catch(() => {})
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
      const [sender = '', ...words] = payload.split(' ')
      const change = words.join(' ')
      if (!isChange(change) || sender === node) return
      subscriber.onChange(change)
      if (sender.startsWith(OPERATOR)) confirm(fresh, sender)
    })
    await fresh.connect()
    client = fresh
    // The feed was closed meanwhile: nobody else will end this connection.
    if (closing.signal.aborted) await fresh.end()
    else await fresh.query(`LISTEN ${CHANNEL}`)
    return { end }
  }

  // Changes that come while a statement is under way share the next one.
  const publish = batchCalls(async (changes: Change[]) => {
    const payloads = [...new Set(changes)].map((change) => `${node} ${change}`)
    await sql`SELECT pg_notify(${CHANNEL}, p) FROM unnest(${payloads}::text[]) p`.execute(db)
    return changes.map(() => undefined)
  })

  // PostgreSQL delivers a connection's notifications before it answers a query on it.
  const awaitChanges = batchCalls(async (calls: undefined[]) => {
    const asked = client
    if (asked && !(await answers(asked))) {
      subscriber.onChange('posts')
      subscriber.onChange('likes')
      // Another connection takes its place: this one would delay every further call.
      asked.end().catch(() => {})
      if (client === asked) client = undefined
    }
    return calls
  })

  return {
    publish: isShared ? publish : async () => {},
    awaitChanges: isShared ? () => awaitChanges(undefined) : async () => {},
    async close() {
      closing.abort()
      await client?.end()
      await subscribing
    },
  }
}

function isChange(text: string): text is Change {
  return text === 'posts' || text === 'likes' || text.startsWith('likes ')
}

/** Tells an operator's command that this node has received its change. */
function confirm(client: pg.Client, sender: string): void {
  client.query('SELECT pg_notify($1, $2)', [HEARD_CHANNEL, sender]).catch(() => {})
}

/**
 * Publishes a change from outside any node, after its commit. Resolves when every running node has received it, or after two
 * seconds. Returns how many nodes have.
 */
export async function publishFromOutside(url: string, change: Change): Promise<number> {
  const sender = OPERATOR + randomUUID()
  const client = new pg.Client({ connectionString: url, application_name: 'vslukh operator' })
  await client.connect()
  try {
    await client.query(`LISTEN ${HEARD_CHANNEL}`)
    const { rows } = await client.query<{ nodes: number }>(
      `SELECT count(*)::int AS nodes FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = $1`,
      [FEED_NAME],
    )
    const nodes = rows[0]?.nodes ?? 0
    const heard = Promise.withResolvers<void>()
    let confirmed = 0
    client.on('notification', ({ payload }) => {
      if (payload === sender && ++confirmed >= nodes) heard.resolve()
    })
    await client.query('SELECT pg_notify($1, $2)', [CHANNEL, `${sender} ${change}`])
    if (nodes > 0) await endsWithin(heard.promise, LONGEST_HEARING_MS)
    return confirmed
  } finally {
    await client.end()
  }
}

function answers(client: pg.Client): Promise<boolean> {
  return endsWithin(client.query('SELECT'), LONGEST_SILENCE_MS).catch(() => false)
}
