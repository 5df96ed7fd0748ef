import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { endsWithin } from '../db/outage.ts'
import type { Change } from './change.ts'

export const CHANNEL = 'vslukh'
/** The application name of the connections on which nodes receive changes. */
export const FEED_NAME = 'vslukh change feed'
export const COUNT_NODES = `SELECT count(*)::int AS nodes FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = '${FEED_NAME}'`
/** The name of a sender that is an operator's command begins so. */
export const OPERATOR = 'operator-'
/** Where nodes confirm that they have received a change of an operator's command. */
const CONFIRMED_CHANNEL = 'vslukh_heard'
/** A node that does not confirm within this time is frozen or gone. */
const LONGEST_CONFIRMATION_MS = 2000

/** Returns the text of a notification. */
export function payloadOf(sender: string, change: Change): string {
  return `${sender} ${JSON.stringify(change)}`
}

export function confirm(client: pg.Client, sender: string): void {
  client.query('SELECT pg_notify($1, $2)', [CONFIRMED_CHANNEL, sender]).catch(() => {})
}

/** Publishes a change from outside any node. Returns how many nodes received it within 2 s. */
export async function publishFromOutside(url: string, change: Change): Promise<number> {
  const sender = OPERATOR + randomUUID()
  const client = new pg.Client({ connectionString: url, application_name: 'vslukh operator' })
  await client.connect()
  try {
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
    return confirmed
  } finally {
    await client.end()
  }
}
