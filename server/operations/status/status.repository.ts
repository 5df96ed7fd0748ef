import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'
import { COUNT_NODES } from '../../kernel/db/nodes.ts'

export type WallStatus = Awaited<ReturnType<typeof selectStatus>>

/** The most posts of a day that are counted. */
const NEWEST = sql.raw('100000')

export function selectStatus(db: Queryable) {
  return db
    .selectFrom('installation')
    .select(['version', 'counters_checked_at', 'counter_differences'])
    .select([
      sql<number>`(${sql.raw(COUNT_NODES)})`.as('nodes'),
      sql<number>`(SELECT count(*) FROM users)::float8`.as('users'),
      sql<number>`(SELECT count(*) FROM sessions)::float8`.as('sessions'),
      sql<number>`(SELECT sum(posts) FROM wall_totals)::float8`.as('posts'),
      sql<number>`(SELECT count(*) FROM
        (SELECT created_at FROM visible_posts ORDER BY id DESC LIMIT ${NEWEST}) newest
        WHERE created_at > now() - interval '1 day')::float8`.as('posts_today'),
      sql<number>`(SELECT count(*) FROM bans WHERE coalesce(until > now(), true))::float8`.as(
        'bans',
      ),
      sql<number>`(SELECT count(*) FROM invitations
        WHERE expires_at > now() AND uses_left > 0)::float8`.as('invitations'),
    ])
    .executeTakeFirstOrThrow()
}

export async function storeCounterCheck(db: Queryable, differences: number): Promise<void> {
  await db
    .updateTable('installation')
    .set({ counters_checked_at: sql<Date>`now()`, counter_differences: differences })
    .execute()
}
