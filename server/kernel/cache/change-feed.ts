import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type pg from 'pg'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { type Db, openClient } from '../db/database.ts'
import { productVersion } from '../db/migrate.ts'
import { COUNT_NODES, FEED_NAME } from '../db/nodes.ts'
import type { Outage } from '../db/outage.ts'
import { SessionClient } from '../db/session.ts'
import { endsWithin } from '../deadline.ts'

const NewestPost = Type.Object({ id: Type.String(), by: Type.String() })

/** A change of posts, not of likes. An edit or a removal without `postId` may concern any post. */
export const Change = Type.Union([
  Type.Object({
    kind: Type.Literal('added'),
    newest: Type.Optional(NewestPost),
    /** The ids of the users who were answered, and the replies as `<post>:<reply>:<author>`. */
    answered: Type.Array(Type.String()),
  }),
  Type.Object({
    kind: Type.Union([Type.Literal('edited'), Type.Literal('removed')]),
    postId: Type.Optional(Type.String()),
  }),
])

export type NewestPost = Static<typeof NewestPost>
export type Change = Static<typeof Change>

/** Invalidates the caches of all nodes. Await it between commit and response. It never rejects. */
export type PublishChange = (change: Change) => Promise<void>

export const CHANNEL = 'vslukh'
const OPERATOR = 'operator-'
/** The channel on which nodes confirm that they received a change of an operator's command. */
const CONFIRMED_CHANNEL = 'vslukh_heard'
const LONGEST_CONFIRMATION_MS = 2000

const RETRY_MS = 200
const CONNECTION_WAIT_MS = 3000
const LONGEST_SILENCE_MS = 1000
const HEARTBEAT_MS = 500

type FeedOptions = {
  url: string
  isShared: boolean
  outage: Pick<Outage, 'suspect' | 'whenReadable'>
}

export type FeedEvents = {
  onChange: (change: Change) => void
  onSubscribed: (isSubscribed: boolean) => void
}

/** Publishes changes by NOTIFY, and receives those of other nodes and of operators' commands. */
export class ChangeFeed {
  readonly #db: Db
  readonly #options: FeedOptions & FeedEvents
  readonly #node = randomUUID()
  readonly #closing = new AbortController()
  readonly #subscribing: Promise<void>
  #client: pg.Client | undefined

  constructor(db: Db, options: FeedOptions & FeedEvents) {
    this.#db = db
    this.#options = options
    this.#subscribing = this.#keepSubscribed()
  }

  async publish(change: Change): Promise<void> {
    if (!this.#options.isShared) return
    await sql`SELECT pg_notify(${CHANNEL}, ${payloadOf(this.#node, change)})`.execute(this.#db)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#client?.end()
    await this.#subscribing
  }

  async #keepSubscribed(): Promise<void> {
    const { outage, onSubscribed } = this.#options
    const { signal } = this.#closing
    while (!signal.aborted) {
      await outage.whenReadable()
      const client = this.#newClient()
      this.#client = client
      if (await subscribe(client)) {
        onSubscribed(true)
        await untilSilent(client)
        onSubscribed(false)
        if (!signal.aborted) outage.suspect(new Error('The change feed broke off'))
      }
      // Not awaited, because it does not resolve if the server does not answer.
      client.end().catch(() => {})
      await delay(RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }

  #newClient(): pg.Client {
    const client = new SessionClient({
      connectionString: this.#options.url,
      application_name: FEED_NAME + productVersion(),
      connectionTimeoutMillis: CONNECTION_WAIT_MS,
      keepAlive: true,
    })
    client.on('notification', ({ payload = '' }) => {
      const { sender, change } = parse(payload)
      if (sender === this.#node) return
      this.#options.onChange(change)
      if (sender.startsWith(OPERATOR)) confirm(client, sender)
    })
    return client
  }
}

async function subscribe(client: pg.Client): Promise<boolean> {
  try {
    await client.connect()
    // A standby that is being promoted refuses LISTEN for a moment.
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

/** Uses two timers, because a busy process may read the answer only after the first has expired. */
async function isAnswered(answer: Promise<unknown>): Promise<boolean> {
  const isInTime = () => endsWithin(answer, LONGEST_SILENCE_MS / 2)
  return (await isInTime()) || isInTime()
}

/** Parses a notification. One that this release cannot parse counts as an edit of any post. */
function parse(payload: string): { sender: string; change: Change } {
  const [sender = '', json = ''] = payload.split(/ (.*)/s)
  try {
    return { sender, change: Value.Parse(Change, JSON.parse(json)) }
  } catch {
    return { sender, change: { kind: 'edited' } }
  }
}

export function payloadOf(sender: string, change: Change): string {
  return `${sender} ${JSON.stringify(change)}`
}

function confirm(client: pg.Client, sender: string): void {
  client.query('SELECT pg_notify($1, $2)', [CONFIRMED_CHANNEL, sender]).catch(() => {})
}

/** Publishes an operator's change. Resolves when all nodes have confirmed it, or after 2 s. */
export async function publishFromOutside(url: string, change: Change): Promise<void> {
  const sender = OPERATOR + randomUUID()
  await using client = await openClient(url, 'vslukh operator')
  await client.query(`LISTEN ${CONFIRMED_CHANNEL}`)
  const { rows } = await client.query<{ nodes: number }>(COUNT_NODES)
  const nodes = rows[0]?.nodes ?? 0
  const allConfirmed = Promise.withResolvers<void>()
  let confirmed = 0
  client.on('notification', ({ payload }) => {
    if (payload === sender && ++confirmed >= nodes) allConfirmed.resolve()
  })
  await client.query('SELECT pg_notify($1, $2)', [CHANNEL, payloadOf(sender, change)])
  if (nodes > 0) await endsWithin(allConfirmed.promise, LONGEST_CONFIRMATION_MS)
}
