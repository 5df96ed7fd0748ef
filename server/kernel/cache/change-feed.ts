import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { Value } from 'typebox/value'
import { BatchedCalls } from '../db/batch-calls.ts'
import type { Db } from '../db/database.ts'
import { endsWithin, type Outage } from '../db/outage.ts'
import { Change } from './change.ts'
import { CHANNEL, confirm, FEED_NAME, OPERATOR, payloadOf } from './operator-changes.ts'

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 2000
const CONNECTION_WAIT_MS = 3000
/** A connection that does not answer for so long may have missed changes. */
const LONGEST_SILENCE_MS = 1000
const HEARTBEAT_MS = 500

export type ChangeFeed = {
  publish(change: Change): Promise<unknown>
  close(): Promise<void>
}

type FeedOptions = {
  /** For a connection of the feed's own. */
  url: string
  /** Whether other nodes may use the database. If not, only operators' commands publish changes. */
  isShared: boolean
  outage: Pick<Outage, 'suspect' | 'whenReadable'>
  onChange: (change: Change) => void
  /** Called when changes of other nodes begin to arrive, or no longer do. */
  onSubscribed: (isSubscribed: boolean) => void
}

/**
 * Publishes changes over NOTIFY and receives those of other nodes over LISTEN. A change is
 * published after its commit: within the transaction, commits would queue for one lock.
 */
export function openChangeFeed(
  db: Db,
  { url, isShared, outage, onChange, onSubscribed }: FeedOptions,
): ChangeFeed {
  const node = randomUUID()
  const closing = new AbortController()
  let client: pg.Client | undefined
  const subscribing = keepSubscribed()

  async function keepSubscribed(): Promise<void> {
    let wait = FIRST_RETRY_MS
    while (!closing.signal.aborted) {
      await outage.whenReadable()
      client = newClient()
      if (await subscribe(client)) {
        wait = FIRST_RETRY_MS
        onSubscribed(true)
        await untilSilent(client)
        onSubscribed(false)
        if (!closing.signal.aborted) outage.suspect(new Error('The change feed broke off'))
      }
      // Not awaited: a server that does not answer could take for ever.
      client.end().catch(() => {})
      await delay(wait, undefined, { signal: closing.signal }).catch(() => {})
      wait = Math.min(wait * 2, LONGEST_RETRY_MS)
    }
  }

  function newClient(): pg.Client {
    const fresh = new pg.Client({
      connectionString: url,
      application_name: FEED_NAME,
      connectionTimeoutMillis: CONNECTION_WAIT_MS,
      keepAlive: true,
    })
    fresh.on('error', () => {})
    fresh.on('notification', ({ payload = '' }) => {
      const { sender, change } = parse(payload)
      if (sender === node) return
      onChange(change)
      if (sender.startsWith(OPERATOR)) confirm(fresh, sender)
    })
    return fresh
  }

  // Changes that come while a statement is under way share the next one.
  const publications = new BatchedCalls(async (changes: Change[]) => {
    const payloads = new Set(changes.map((change) => payloadOf(node, change)))
    await sql`SELECT pg_notify(${CHANNEL}, payload)
      FROM unnest(${[...payloads]}::text[]) payload`.execute(db)
    return changes
  })

  return {
    publish: async (change) => (isShared ? publications.call(change) : undefined),
    async close() {
      closing.abort()
      await client?.end()
      await subscribing
    },
  }
}

async function subscribe(client: pg.Client): Promise<boolean> {
  try {
    await client.connect()
    // A standby that is about to become the primary refuses for a moment.
    return await isAnswered(client.query(`LISTEN ${CHANNEL}`))
  } catch {
    return false
  }
}

async function untilSilent(client: pg.Client): Promise<void> {
  const ended = new AbortController()
  client.once('end', () => ended.abort())
  while (await isAnswered(client.query('SELECT')).catch(() => false)) {
    await delay(HEARTBEAT_MS, undefined, { signal: ended.signal }).catch(() => {})
  }
}

/** Two timers: an answer may wait unread while this process is busy for longer than one. */
async function isAnswered(answer: Promise<unknown>): Promise<boolean> {
  const isInTime = () => endsWithin(answer, LONGEST_SILENCE_MS / 2)
  return (await isInTime()) || isInTime()
}

/** Reads a notification. One that this release cannot read may be about any post. */
function parse(payload: string): { sender: string; change: Change } {
  const [sender = '', json = ''] = payload.split(/ (.*)/s)
  try {
    return { sender, change: Value.Parse(Change, JSON.parse(json)) }
  } catch {
    return { sender, change: { kind: 'edited' } }
  }
}
