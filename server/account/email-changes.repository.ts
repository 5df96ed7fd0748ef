import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'

/** How long a change can be undone: a weekend away from one's mail. */
const UNDO_SECONDS = 3 * 86_400

/** Adds a change away from `oldEmail`, with a random id of 128 bits. Returns the id and until when it can be undone. */
export function insertEmailChange(
  tx: Queryable,
  { userId, oldEmail }: { userId: string; oldEmail: string },
): Promise<{ id: string; expires_at: Date }> {
  return tx
    .insertInto('email_changes')
    .values({
      id: randomBytes(16).toString('hex'),
      user_id: userId,
      old_email: oldEmail,
      expires_at: sql<Date>`now() + ${UNDO_SECONDS} * interval '1 second'`,
    })
    .returning(['id', 'expires_at'])
    .executeTakeFirstOrThrow()
}

/** Whose change it is; undefined for an unknown one. */
export async function findEmailChangeOwner(db: Queryable, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('email_changes')
    .select('user_id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.user_id
}

/**
 * Removes a change, and with it those its user made after it. Returns the address before it; undefined, and removes
 * nothing, where it can no longer be undone. The user's row is to be locked: changes come and go under that lock.
 */
export async function takeEmailChange(
  tx: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<string | undefined> {
  const taken = await tx
    .deleteFrom('email_changes')
    .where('user_id', '=', userId)
    .where('number', '>=', (eb) =>
      eb
        .selectFrom('email_changes')
        .select('number')
        .where('id', '=', id)
        .where('expires_at', '>', sql<Date>`now()`),
    )
    .returning(['id', 'old_email'])
    .execute()
  return taken.find((change) => change.id === id)?.old_email
}

export async function removeExpiredEmailChanges(db: Queryable): Promise<void> {
  await db.deleteFrom('email_changes').where('expires_at', '<', sql<Date>`now()`).execute()
}
