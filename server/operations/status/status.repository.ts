import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'
import { COUNT_NODES } from '../../kernel/db/nodes.ts'

export type WallStatus = {
  version: string | null
  nodes: number
  users: number
  sessions: number
  posts: number
  posts_today: number
  bans: number
  invitations: number
  counters_checked_at: Date | null
  counter_differences: number | null
}

/** The most posts of a day that are counted. */
const NEWEST = sql.raw('100000')

export async function selectStatus(db: Queryable): Promise<WallStatus> {
  const { rows } = await sql<WallStatus>`
    SELECT i.version, i.counters_checked_at, i.counter_differences,
      (${sql.raw(COUNT_NODES)}) AS nodes,
      (SELECT count(*) FROM users)::float8 AS users,
      (SELECT count(*) FROM sessions)::float8 AS sessions,
      (SELECT sum(posts) FROM wall_totals)::float8 AS posts,
      (SELECT count(*) FROM (SELECT created_at FROM visible_posts ORDER BY id DESC LIMIT ${NEWEST}) newest
        WHERE created_at > now() - interval '1 day')::float8 AS posts_today,
      (SELECT count(*) FROM bans WHERE coalesce(until > now(), true))::float8 AS bans,
      (SELECT count(*) FROM invitations WHERE expires_at > now() AND uses_left > 0)::float8 AS invitations
    FROM installation i`.execute(db)
  const [status] = rows
  if (!status) throw new Error('the installation has no row')
  return status
}

export async function storeCounterCheck(db: Queryable, differences: number): Promise<void> {
  await db
    .updateTable('installation')
    .set({ counters_checked_at: sql<Date>`now()`, counter_differences: differences })
    .execute()
}
