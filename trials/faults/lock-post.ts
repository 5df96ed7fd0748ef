import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Db } from '../../server/kernel/db/database.ts'

/** Likes of the post and replies to it wait until `release()`, as for a long transaction. */
export async function lockPost(db: Db, id: string) {
  const holder = await db.startTransaction().execute()
  await sql`SELECT FROM posts WHERE id = ${id} FOR UPDATE`.execute(holder)
  return {
    async waitedForBy(count: number): Promise<void> {
      await expect.poll(() => countWaiting(db)).toBe(count)
    },
    release: () => holder.rollback().execute(),
  }
}

export async function countWaiting(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count
    FROM pg_stat_activity WHERE wait_event_type = 'Lock'`.execute(db)
  return rows[0]?.count ?? 0
}
