import { type KyselyPlugin, sql } from 'kysely'
import type { Db } from '../db/database.ts'

/**
 * Which commits about posts a statement has seen: those that added posts, and those that changed
 * what posts show in another way. Two statements that have seen the same have equal states.
 */
export type PostsState = { posts_added: string | null; posts_changed: string | null }

/** While a transaction is under way, so many later numbers than its own may be committed. */
const OVERTAKING_MAX = 100

const newest = (column: string, table: string) =>
  `(SELECT sum(n) FROM (SELECT ${column} AS n FROM ${table} ORDER BY n DESC LIMIT ${OVERTAKING_MAX}) newest)`

/**
 * SQL for the columns of a PostsState. Each is a sum, which grows when a commit becomes visible,
 * of the newest numbers, since transactions do not commit in the order in which they take theirs.
 */
export const POSTS_STATE = sql.raw(
  `${newest('id', 'posts')} AS posts_added, ${newest('number', 'post_changes')} AS posts_changed`,
)

/** Removes the rows of changes that no state counts any more. */
export async function removeOldChanges(db: Db): Promise<void> {
  await sql`DELETE FROM post_changes WHERE number < (
    SELECT number FROM post_changes ORDER BY number DESC OFFSET ${OVERTAKING_MAX} LIMIT 1)`.execute(
    db,
  )
}

/** Returns `db` with statements that tell the state they have seen, where they select POSTS_STATE. */
export function tellingState(db: Db, onState: (state: PostsState) => unknown): Db {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      const [row] = result.rows
      if (row && 'posts_added' in row) onState(row as PostsState)
      return result
    },
  }
  return db.withPlugin(plugin)
}
