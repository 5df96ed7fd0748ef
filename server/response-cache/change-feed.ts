import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { createBatch } from '../db/batch-calls.ts'
import type { Db } from '../db/database.ts'
import { settles } from '../db/settles.ts'

const CHANNEL = 'vslukh'
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 2000
const CONNECTION_WAIT_MS = 3000
/** A connection that says nothing for so long is taken for one that has missed something. */
const LONGEST_SILENCE_MS = 1000

type Change = 'posts' | 'likes'

type Listener = {
  /** Another node changed something. */
  onChange: Record<Change, () => void>
  /** Whether changes of other nodes are heard of from now on. */
  onHearing: (hears: boolean) => void
}

export type Notices = {
  /** Tells the other nodes of a change; resolves when PostgreSQL has the notice. */
  tell(change: Change): Promise<void>
  /** Resolves when this node has heard of every change told before, or else counts it as changed; never rejects. */
  catchUp(): Promise<void>
  close(): Promise<void>
}

/** For a node that shares its database with none: there is nobody to tell or to hear. */
export function noNotices(listener: Pick<Listener, 'onHearing'>): Notices {
  listener.onHearing(true)
  return { tell: async () => {}, catchUp: async () => {}, close: async () => {} }
}

/**
 * Keeps nodes that share a database informed of each other's changes, over LISTEN and NOTIFY. A notice goes in a statement of
 * its own after the commit: within the transaction it would make commits queue for one lock.
 */
export function openNotices(db: Db, url: string, listener: Listener): Notices {
  const node = randomUUID()
  const closing = new AbortController()
  let client: pg.Client | undefined
  const listening = listen()

  async function listen(): Promise<void> {
    for (
      let wait = FIRST_RETRY_MS;
      !closing.signal.aborted;
      wait = Math.min(wait * 2, LONGEST_RETRY_MS)
    ) {
      const connection = await connect().catch(() => undefined)
      if (connection) {
        wait = FIRST_RETRY_MS
        listener.onHearing(true)
        await connection.end
        listener.onHearing(false)
      }
      await delay(wait, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  /** Listens; gives a promise of the connection's end. */
  async function connect(): Promise<{ end: Promise<void> }> {
    const fresh = new pg.Client({
      connectionString: url,
      application_name: 'vslukh notices',
      connectionTimeoutMillis: CONNECTION_WAIT_MS,
      keepAlive: true,
    })
    const { promise: end, resolve } = Promise.withResolvers<void>()
    fresh.on('error', () => {}).once('end', resolve)
    fresh.on('notification', ({ payload = '' }) => {
      const [sender, change] = payload.split(' ')
      if (sender !== node && (change === 'posts' || change === 'likes')) listener.onChange[change]()
    })
    await fresh.connect()
    client = fresh
    // Closed meanwhile: nobody else will end it.
    if (closing.signal.aborted) await fresh.end()
    else await fresh.query(`LISTEN ${CHANNEL}`)
    return { end }
  }

  // Changes that come while a notice is on its way share the next one.
  const share = createBatch(async (changes: Change[]) => {
    const payloads = [...new Set(changes)].map((change) => `${node} ${change}`)
    await sql`SELECT pg_notify(${CHANNEL}, p) FROM unnest(${payloads}::text[]) p`.execute(db)
    return changes.map(() => undefined)
  })

  // PostgreSQL hands out the notices of a connection before it answers a question on it. Those who ask share one.
  const ask = createBatch(async (questions: undefined[]) => {
    const asked = client
    if (asked && !(await answers(asked))) {
      listener.onChange.posts()
      listener.onChange.likes()
      // Another takes its place; this one would keep everybody waiting again.
      asked.end().catch(() => {})
      if (client === asked) client = undefined
    }
    return questions
  })

  return {
    tell: share,
    catchUp: () => ask(undefined),
    async close() {
      closing.abort()
      await client?.end()
      await listening
    },
  }
}

function answers(client: pg.Client): Promise<boolean> {
  return settles(client.query('SELECT'), LONGEST_SILENCE_MS).catch(() => false)
}
