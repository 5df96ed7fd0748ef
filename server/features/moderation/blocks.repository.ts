import { sql } from 'kysely'
import { isRepeatable } from '../../kernel/db/clock.ts'
import type { Queryable } from '../../kernel/db/database.ts'

export type NewBlock = { userId: string; reason: string; days: number | null; by: string }
export type Block = { reason: string; until: Date | null }

type BlockTarget = { userId: string; mailbox: string }

/** Locks the blocks of a mailbox until the transaction ends. */
export async function lockBlocks(tx: Queryable, mailbox: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`block ${mailbox}`}, 0))`.execute(tx)
}

/** Blocks all accounts of a mailbox, in place of earlier blocks. Returns their ids and the end. */
export async function upsertBlocks(
  tx: Queryable,
  { userId, mailbox, reason, days, by }: NewBlock & BlockTarget,
): Promise<{ userIds: string[]; until: Date | null }> {
  const { rows } = await sql<{ user_id: string; until: Date | null }>`
    WITH accounts AS (
      SELECT id FROM users WHERE id = ${userId} OR mailbox = ${mailbox} ORDER BY id FOR KEY SHARE
    )
    INSERT INTO blocks (user_id, reason, until, blocked_by)
    SELECT id, ${reason}, now() + ${days}::int * interval '1 day', ${by} FROM accounts
    ON CONFLICT (user_id) DO UPDATE SET
      reason = excluded.reason, until = excluded.until, blocked_by = excluded.blocked_by,
      created_at = excluded.created_at
    RETURNING user_id, until`.execute(tx)
  return { userIds: rows.map((row) => row.user_id), until: rows[0]?.until ?? null }
}

/** Ends the blocks of all accounts of a mailbox. Returns false if there were none. */
export async function deleteBlocks(
  tx: Queryable,
  { userId, mailbox }: BlockTarget,
): Promise<boolean> {
  const { numAffectedRows } = await sql`DELETE FROM blocks USING users u
    WHERE u.id = blocks.user_id AND (u.id = ${userId} OR u.mailbox = ${mailbox})`.execute(tx)
  return numAffectedRows !== 0n
}

export function selectBlock(db: Queryable, userId: string): Promise<Block | undefined> {
  const block = db.selectFrom('blocks_in_force').select(['reason', 'until'])
  return block.where('user_id', '=', userId).executeTakeFirst()
}

/** Returns the block if the same person has placed the same one less than two minutes ago. */
export async function selectRepeatedBlock(
  tx: Queryable,
  { userId, reason, days, by }: NewBlock,
): Promise<Block | undefined> {
  const { rows } = await sql<Block>`
    SELECT reason, until FROM blocks
    WHERE user_id = ${userId} AND reason = ${reason} AND blocked_by = ${by}
      AND until - created_at IS NOT DISTINCT FROM ${days}::int * interval '1 day'
      AND ${isRepeatable('created_at')}`.execute(tx)
  return rows[0]
}

export async function removeExpiredBlocks(db: Queryable): Promise<void> {
  for (const table of ['blocks', 'blocked_mailboxes'] as const)
    await db.deleteFrom(table).where('until', '<', sql<Date>`now()`).execute()
}

export async function blockMailbox(
  tx: Queryable,
  mailboxHash: Buffer,
  { reason, until }: Block,
): Promise<void> {
  await sql`INSERT INTO blocked_mailboxes (mailbox_hash, reason, until)
    VALUES (${mailboxHash}, ${reason}, ${until}) ON CONFLICT (mailbox_hash)
    DO UPDATE SET reason = excluded.reason, until = excluded.until`.execute(tx)
}

export async function unblockMailbox(tx: Queryable, mailboxHash: Buffer): Promise<void> {
  await tx.deleteFrom('blocked_mailboxes').where('mailbox_hash', '=', mailboxHash).execute()
}

/** Copies the block of another account of the mailbox, or of an erased one, to a new user. */
export async function copyBlock(
  tx: Queryable,
  { userId, mailbox }: BlockTarget,
  mailboxHash: Buffer,
): Promise<void> {
  await sql`INSERT INTO blocks (user_id, reason, until, blocked_by)
    SELECT ${userId}, reason, until, 'vslukh' FROM (
      SELECT b.reason, b.until FROM blocks_in_force b JOIN users u ON u.id = b.user_id
      WHERE u.mailbox = ${mailbox}
      UNION ALL SELECT reason, until FROM blocked_mailboxes
      WHERE mailbox_hash = ${mailboxHash} AND coalesce(until > now(), true)
    ) block LIMIT 1`.execute(tx)
}
