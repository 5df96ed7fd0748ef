import { sql } from 'kysely'
import { ANCESTORS_MAX, NAMES_SUGGESTED_MAX } from '../../../contract/constants.ts'
import type { Queryable } from '../../kernel/db/database.ts'

export type NamedUser = { id: string; username: string }
type Start = { start: string; viewerId: string }

/** The most of the newest replies to a post whose authors count as people of its thread. */
const REPLIES_READ = sql.lit(100)
/** The most names, by the alphabet, that are looked at: many have not published anything. */
const NAMES_READ = sql.lit(200)
const MOST = sql.lit(NAMES_SUGGESTED_MAX)

/** Leaves out the viewer, and whom the viewer has muted. */
const mayBeNamed = (viewerId: string) => sql`u.deleted_at IS NULL AND u.id <> ${viewerId}::bigint
  AND NOT EXISTS (SELECT FROM mutes_in_force WHERE user_id = ${viewerId}::bigint AND muted_id = u.id)`

/**
 * Selects authors around a post whose names begin with `start`: of the posts above it, and of replies
 * to it, to the one above it and to the first one. The last to write comes first.
 */
export async function selectThreadAuthors(
  db: Queryable,
  { start, viewerId, postId }: Start & { postId: string },
): Promise<NamedUser[]> {
  const { rows } = await sql<NamedUser>`
    WITH RECURSIVE way AS (
      SELECT 0 AS step, id, owner_id, replied_post_id, parent_post_id FROM visible_posts WHERE id = ${postId}::bigint
      UNION ALL
      SELECT step + 1, p.id, p.owner_id, p.replied_post_id, p.parent_post_id
      FROM way JOIN visible_posts p ON p.id = way.replied_post_id WHERE step < ${sql.lit(ANCESTORS_MAX)}
    ), authors AS (
      SELECT id, owner_id FROM way
      UNION ALL
      SELECT reply.id, reply.owner_id
      FROM (SELECT id FROM way WHERE step < 2 UNION SELECT parent_post_id FROM way WHERE step = 0) replied
      CROSS JOIN LATERAL (SELECT id, owner_id FROM visible_posts
        WHERE replied_post_id = replied.id ORDER BY id DESC LIMIT ${REPLIES_READ}) reply
    )
    SELECT u.id, u.username
    FROM (SELECT owner_id, max(id) AS last_id FROM authors GROUP BY owner_id) author
    JOIN users u ON u.id = author.owner_id
    WHERE starts_with(lower(u.username), ${start}) AND ${mayBeNamed(viewerId)}
    ORDER BY last_id DESC LIMIT ${MOST}`.execute(db)
  return rows
}

/** Selects people who have published something, by name: others may not want to be found. */
export async function selectAuthorsByName(
  db: Queryable,
  { start, viewerId }: Start,
): Promise<NamedUser[]> {
  // Without an upper bound PostgreSQL reads the index in its order, and sorts no names.
  const { rows } = await sql<NamedUser>`
    SELECT u.id, u.username FROM (
      SELECT id, username, deleted_at FROM users WHERE lower(username) ~>=~ ${start}
      ORDER BY lower(username) USING ~<~ LIMIT ${NAMES_READ}
    ) u
    WHERE starts_with(lower(u.username), ${start}) AND ${mayBeNamed(viewerId)}
      AND (SELECT posts + replies FROM owner_totals t WHERE t.user_id = u.id) > 0
    ORDER BY lower(u.username) USING ~<~ LIMIT ${MOST}`.execute(db)
  return rows
}
