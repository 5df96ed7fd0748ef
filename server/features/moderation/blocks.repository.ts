import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'
import { emailKey } from '../../kernel/mail/email-address.ts'

/** A block without `days` has no end. */
export type NewBlock = { userId: string; reason: string; days: number | null; by: string }
export type StoredBlock = { reason: string; until: Date | null; blocked_by: string }

/**
 * Lets the block of a user be read and replaced by one transaction after another, and by none while
 * the user is erased. Returns false when the user has been.
 */
export async function lockBlock(tx: Queryable, userId: string): Promise<boolean> {
  const users = tx.selectFrom('users').select('id').where('id', '=', userId).forKeyShare()
  const user = await users.executeTakeFirst()
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`block ${userId}`}, 0))`.execute(tx)
  return user !== undefined
}

/** Blocks a user, in place of an earlier block. Returns until when. */
export async function upsertBlock(
  tx: Queryable,
  { userId, reason, days, by }: NewBlock,
): Promise<Date | null> {
  const { rows } = await sql<{ until: Date | null }>`
    INSERT INTO blocks (user_id, reason, until, blocked_by)
    VALUES (${userId}, ${reason}, now() + ${days}::int * interval '1 day', ${by})
    ON CONFLICT (user_id) DO UPDATE SET
      reason = excluded.reason, until = excluded.until, blocked_by = excluded.blocked_by,
      created_at = excluded.created_at
    RETURNING until`.execute(tx)
  return rows[0]?.until ?? null
}

/** Stores a block of a user who has none. */
export async function insertBlock(
  tx: Queryable,
  userId: string,
  block: StoredBlock,
): Promise<void> {
  await tx
    .insertInto('blocks')
    .values({ user_id: userId, ...block })
    .execute()
}

/** Ends the block of a user. Returns false when there was none. */
export async function deleteBlock(tx: Queryable, userId: string): Promise<boolean> {
  const block = tx.deleteFrom('blocks').where('user_id', '=', userId)
  return (await block.executeTakeFirst()).numDeletedRows > 0n
}

/** Returns the block that is in force; null without one. */
export async function selectBlock(db: Queryable, userId: string): Promise<StoredBlock | null> {
  const row = await db
    .selectFrom('blocks_in_force')
    .select(['reason', 'until', 'blocked_by'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row ?? null
}

export async function removeExpiredBlocks(db: Queryable): Promise<void> {
  for (const table of ['blocks', 'blocked_mailboxes'] as const)
    await db.deleteFrom(table).where('until', '<', sql<Date>`now()`).execute()
}

/** Returns the e-mail of a user, whose row it locks. */
export async function lockEmail(tx: Queryable, userId: string): Promise<string | undefined> {
  const user = tx.selectFrom('users').select('email').where('id', '=', userId).forNoKeyUpdate()
  return (await user.executeTakeFirst())?.email
}

/** An address's name, without what two addresses of one mailbox may differ in. */
const NAME = sql.raw(`translate(split_part(split_part(email_key, '@', 1), '+', 1), '.-', '')`)

type Twin = { id: string; username: string; email: string }

/** Users whose address may belong to one of the mailboxes. It reads every user. */
export async function selectPossibleTwins(db: Queryable, emails: string[]): Promise<Twin[]> {
  const { rows } = await sql<Twin>`
    SELECT id, username, email FROM users
    WHERE ${NAME} IN (SELECT ${NAME} FROM unnest(${emails.map(emailKey)}::text[]) asked (email_key))
    ORDER BY id`.execute(db)
  return rows
}

export async function blockMailbox(
  tx: Queryable,
  mailboxHash: Buffer,
  { reason, until }: Pick<StoredBlock, 'reason' | 'until'>,
): Promise<void> {
  await tx
    .insertInto('blocked_mailboxes')
    .values({ mailbox_hash: mailboxHash, reason, until })
    .onConflict((conflict) => conflict.column('mailbox_hash').doUpdateSet({ reason, until }))
    .execute()
}

export async function unblockMailbox(tx: Queryable, mailboxHash: Buffer): Promise<void> {
  await tx.deleteFrom('blocked_mailboxes').where('mailbox_hash', '=', mailboxHash).execute()
}

/** Blocks a user for as long as the mailbox is blocked. */
export async function copyMailboxBlock(
  tx: Queryable,
  userId: string,
  mailboxHash: Buffer,
): Promise<void> {
  await sql`INSERT INTO blocks (user_id, reason, until, blocked_by)
    SELECT ${userId}, reason, until, 'vslukh' FROM blocked_mailboxes
    WHERE mailbox_hash = ${mailboxHash} AND coalesce(until > now(), true)`.execute(tx)
}
