import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'
import type { KnownBy } from '../../kernel/db/tables.ts'
import type { Viewer } from '../../kernel/http/route.ts'
import { emailKey } from '../../kernel/mail/email-address.ts'
import { IS_LIVE } from './sessions.repository.ts'

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

type Asking = { email: string; clientHash: Buffer; networkHash: Buffer | null }

/** `knownBy` is `browser` after an earlier sign-in, `network` for a live session in the network. */
function accountOf(db: Queryable, { email, clientHash, networkHash }: Asking) {
  const knownBy = sql<KnownBy>`CASE
    WHEN EXISTS (SELECT FROM known_clients
      WHERE user_id = users.id AND client_hash = ${clientHash}) THEN 'browser'
    WHEN EXISTS (SELECT FROM sessions
      WHERE user_id = users.id AND network_hash = ${networkHash}::bytea AND ${IS_LIVE}) THEN 'network'
    END`
  return db
    .selectFrom('users')
    .select(['email', knownBy.as('knownBy')])
    .where('email_key', '=', emailKey(email))
}

/** Returns whether a client has signed in before with the account of an e-mail. */
export async function isKnownBrowser(
  db: Queryable,
  client: Omit<Asking, 'networkHash'>,
): Promise<boolean> {
  const account = accountOf(db, { ...client, networkHash: null })
  return (await account.executeTakeFirst())?.knownBy === 'browser'
}

/** Locks the account of an e-mail. Returns its exact address, and how it knows the client. */
export function lockAndRecognise(tx: Queryable, client: Asking) {
  return accountOf(tx, client).forNoKeyUpdate().executeTakeFirst()
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
  const others = deleteClientsOf(tx, userId).where('client_hash', '!=', clientOf(sessionId))
  await (only === undefined ? others : others.where('client_hash', '=', clientOf(only))).execute()
}

export async function removeAllClients(tx: Queryable, userId: string): Promise<void> {
  await deleteClientsOf(tx, userId).execute()
}

function deleteClientsOf(tx: Queryable, userId: string) {
  return tx.deleteFrom('known_clients').where('user_id', '=', userId)
}
