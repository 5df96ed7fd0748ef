import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'
import { IS_BLOCK_IN_FORCE } from '../db/sql-parts.ts'

/** A block to put on a user: for so many days, or until it is taken back where `days` is null. */
export type NewBlock = { userId: string; reason: string; days: number | null; by: string }
/** A block as it stands. */
export type StoredBlock = { reason: string; until: Date | null; blocked_by: string }

/** Blocks a user, in place of an earlier block. Returns until when. */
export async function upsertBlock(tx: Queryable, block: NewBlock): Promise<{ until: Date | null }> {
  const values = {
    reason: block.reason,
    until: sql<Date | null>`now() + ${block.days}::int * interval '1 day'`,
    blocked_by: block.by,
  }
  return tx
    .insertInto('blocks')
    .values({ user_id: block.userId, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .returning('until')
    .executeTakeFirstOrThrow()
}

/** Puts back the block that a user had before, or none. */
export async function replaceBlock(
  tx: Queryable,
  userId: string,
  before: StoredBlock | null,
): Promise<void> {
  await tx.deleteFrom('blocks').where('user_id', '=', userId).execute()
  if (!before) return
  await tx
    .insertInto('blocks')
    .values({ user_id: userId, ...before })
    .execute()
}

/** Takes a block back. Returns false where there was none. */
export async function deleteBlock(tx: Queryable, userId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('blocks')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** The block that applies to a user now; null without one. */
export async function selectBlock(db: Queryable, userId: string): Promise<StoredBlock | null> {
  const row = await db
    .selectFrom('blocks as b')
    .select(['reason', 'until', 'blocked_by'])
    .where('user_id', '=', userId)
    .where(IS_BLOCK_IN_FORCE)
    .executeTakeFirst()
  return row ?? null
}

/** Removes blocks that are over. */
export async function removeExpiredBlocks(db: Queryable): Promise<void> {
  await db.deleteFrom('blocks').where('until', '<', sql<Date>`now()`).execute()
}
