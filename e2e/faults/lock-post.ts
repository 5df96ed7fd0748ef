import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Db } from '../../server/kernel/db/database.ts'

/** Locks a post's row as a long transaction would: likes of it and replies to it wait until `release()`. */
export async function lockPost(db: Db, id: string) {
  const holder = await db.startTransaction().execute()
  await sql`SELECT FROM posts WHERE id = ${id} FOR UPDATE`.execute(holder)
  return {
    /** Resolves once `count` statements wait for a lock. */
    async waitedForBy(count: number): Promise<void> {
      await expect.poll(() => countWaiting(db)).toBe(count)
    },
    release: () => holder.rollback().execute(),
  }
}

/** The number of statements that wait for a lock. */
export async function countWaiting(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count
    FROM pg_stat_activity WHERE wait_event_type = 'Lock'`.execute(db)
  return rows[0]?.count ?? 0
}
