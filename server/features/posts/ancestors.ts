import { sql } from 'kysely'
import { ANCESTORS_MAX } from '../../../contract/constants.ts'
import type { Ancestors } from '../../../contract/replies.ts'
import { isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { hydratePosts, type PostViewer } from './hydrate-posts.ts'

/**
 * Reads the nearest ancestors of a reply, with one lookup for each, up to a purged post, of which
 * only the id is left. Throws POST_NOT_FOUND.
 */
export async function readAncestors(
  db: Queryable,
  { id, limit }: { id: string; limit: number },
  viewer: PostViewer,
): Promise<Ancestors> {
  if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
  const page = sql`
    WITH RECURSIVE way AS (
      SELECT 0 AS step, id, replied_post_id, hidden_for FROM visible_posts WHERE id = ${id}::bigint
      UNION ALL
      SELECT step + 1, p.id, p.replied_post_id, p.hidden_for
      FROM way JOIN posts p ON p.id = way.replied_post_id WHERE step < ${sql.raw(`${ANCESTORS_MAX}`)}
    )
    SELECT id, step AS key, count(*) OVER () AS total FROM way
    WHERE step > 0 AND hidden_for IS NULL ORDER BY step LIMIT ${limit}`
  const total = sql`SELECT (SELECT coalesce(max(page.total), 0) FROM page)
    FROM visible_posts WHERE id = ${id}::bigint`
  const { rows, total: found } = await hydratePosts(db, { page, total }, viewer)
  if (found === null) throw new AppError('POST_NOT_FOUND')
  return { posts: rows.flatMap(({ post }) => post ?? []), total: found }
}
