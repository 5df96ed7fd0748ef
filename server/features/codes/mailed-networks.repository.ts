import { sql } from 'kysely'
import { isRecent } from '../../kernel/db/clock.ts'
import type { Queryable } from '../../kernel/db/database.ts'

const IS_OVER = sql<boolean>`NOT ${isRecent('mailed_networks.mailed_at', 30 * 86_400)}`

/** Records that a network has a mailbox mailed. Returns whether it had within 30 days. */
export async function recordMailedNetwork(tx: Queryable, hash: Buffer): Promise<boolean> {
  const recorded = await tx
    .insertInto('mailed_networks')
    .values({ hash })
    .onConflict((conflict) =>
      conflict.column('hash').doUpdateSet({ mailed_at: sql<Date>`now()` }).where(IS_OVER),
    )
    .executeTakeFirstOrThrow()
  return recorded.numInsertedOrUpdatedRows === 0n
}

export async function forgetMailedNetwork(tx: Queryable, hash: Buffer): Promise<void> {
  await tx.deleteFrom('mailed_networks').where('hash', '=', hash).execute()
}

export async function removeOldMailedNetworks(db: Queryable): Promise<void> {
  await db.deleteFrom('mailed_networks').where(IS_OVER).execute()
}
