import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

/** Stores that a client has signed in as a user. Returns false when it had been stored before. */
export async function insertKnownClient(
  tx: Queryable,
  client: { userId: string; clientHash: Buffer },
): Promise<boolean> {
  const { is_new } = await tx
    .insertInto('known_clients')
    .values({ user_id: client.userId, client_hash: client.clientHash })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'client_hash']).doUpdateSet({ used_at: sql<Date>`now()` }),
    )
    // A row that was there before has been locked by its update.
    .returning(sql<boolean>`xmax = 0`.as('is_new'))
    .executeTakeFirstOrThrow()
  return is_new
}

const KNOWN_DAYS = 180

/** Removes clients that have not signed in for half a year. */
export async function removeOldClients(db: Queryable): Promise<void> {
  await db
    .deleteFrom('known_clients')
    .where('used_at', '<', sql<Date>`now() - ${KNOWN_DAYS} * interval '1 day'`)
    .execute()
}

/** Whether a client has signed in as a user before. */
export async function isKnownClient(
  db: Queryable,
  client: { userId: string; clientHash: Buffer },
): Promise<boolean> {
  const row = await db
    .selectFrom('known_clients')
    .select('user_id')
    .where('user_id', '=', client.userId)
    .where('client_hash', '=', client.clientHash)
    .executeTakeFirst()
  return row !== undefined
}
