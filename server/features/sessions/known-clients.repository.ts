import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'
import type { Tables } from '../../kernel/db/tables.ts'
import type { Viewer } from '../../kernel/http/route.ts'
import { emailKey } from '../../kernel/mail/email-address.ts'
import { LIVE } from './sessions.repository.ts'

type Client = { userId: string; clientHash: Buffer }

/** Stores that a client has signed in as a user. Returns false if it was already stored. */
export async function insertKnownClient(tx: Queryable, client: Client): Promise<boolean> {
  const { is_new } = await tx
    .insertInto('known_clients')
    .values({ user_id: client.userId, client_hash: client.clientHash })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'client_hash']).doUpdateSet({ used_at: sql<Date>`now()` }),
    )
    // `xmax` is 0 only in a new row: an existing row was locked by its update.
    .returning(sql<boolean>`xmax = 0`.as('is_new'))
    .executeTakeFirstOrThrow()
  return is_new
}

const KNOWN_DAYS = 180

export async function removeOldClients(db: Queryable): Promise<void> {
  await db
    .deleteFrom('known_clients')
    .where('used_at', '<', sql<Date>`now() - ${KNOWN_DAYS} * interval '1 day'`)
    .execute()
}

type Asking = { clientHash: Buffer; networkHash: Buffer | null }
type KnownBy = Tables['codes']['known_by']

/** Returns SQL: `browser` after an earlier sign-in, `network` for a live session in the network. */
function knownBy({ clientHash, networkHash }: Asking) {
  return sql<KnownBy>`CASE
    WHEN EXISTS (SELECT FROM known_clients
      WHERE user_id = users.id AND client_hash = ${clientHash}) THEN 'browser'
    WHEN EXISTS (SELECT FROM sessions
      WHERE user_id = users.id AND network_hash = ${networkHash}::bytea AND ${LIVE}) THEN 'network'
    END`
}

export async function recognise(
  db: Queryable,
  { userId, ...asking }: Asking & { userId: string },
): Promise<KnownBy> {
  const user = db.selectFrom('users').select(knownBy(asking).as('knownBy'))
  return (await user.where('id', '=', userId).executeTakeFirst())?.knownBy ?? null
}

/** Returns whether a client has signed in before with the account of an e-mail. */
export async function isKnownBrowser(
  db: Queryable,
  { email, clientHash }: { email: string; clientHash: Buffer },
): Promise<boolean> {
  const asking = { clientHash, networkHash: null }
  const user = db.selectFrom('users').select(knownBy(asking).as('knownBy'))
  const found = await user.where('email_key', '=', emailKey(email)).executeTakeFirst()
  return found?.knownBy === 'browser'
}

/** Locks the account of an e-mail. Returns its exact address, and how it knows the client. */
export function lockAndRecognise(
  tx: Queryable,
  { email, ...asking }: Asking & { email: string },
): Promise<{ email: string; knownBy: KnownBy } | undefined> {
  return tx
    .selectFrom('users')
    .select(['email', knownBy(asking).as('knownBy')])
    .where('email_key', '=', emailKey(email))
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Returns SQL for the client hash of a session; null if the session was closed. */
const clientOf = (sessionId: string) =>
  sql<Buffer>`(SELECT sha256(client_hash || browser_hash) FROM sessions WHERE id = ${sessionId})`

/** Forgets all clients except the viewer's, or only the client of the session `only`. */
export async function removeOtherClients(
  tx: Queryable,
  { userId, sessionId }: Viewer,
  only?: string,
): Promise<void> {
  const others = ofUser(tx, userId).where('client_hash', '!=', clientOf(sessionId))
  await (only === undefined ? others : others.where('client_hash', '=', clientOf(only))).execute()
}

export async function removeAllClients(tx: Queryable, userId: string): Promise<void> {
  await ofUser(tx, userId).execute()
}

function ofUser(tx: Queryable, userId: string) {
  return tx.deleteFrom('known_clients').where('user_id', '=', userId)
}
