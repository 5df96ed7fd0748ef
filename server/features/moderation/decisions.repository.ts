import { sql } from 'kysely'
import type { PostState } from '../../../contract/moderation.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import type { HiddenFor } from '../../kernel/db/tables.ts'
import { POST_STATE, POST_TEXT } from './queue.repository.ts'

/** What is decided about: a post, visible or hidden, or as it was reported. */
export type Subject = {
  owner_id: string
  username: string
  text: string
  state: PostState
  hidden_for: HiddenFor | null
  /** Why it is hidden, as its author is told. */
  reason: string | null
}

const AUTHOR_STAYS = sql`FOR KEY SHARE OF u`

/** Returns undefined for an id that neither a post nor a report has. */
export async function selectSubject(
  db: Queryable,
  id: string,
  { isAuthorKept = false } = {},
): Promise<Subject | undefined> {
  const { rows } = await sql<Subject>`
    SELECT u.id AS owner_id, u.username, ${POST_TEXT} AS text,
      ${POST_STATE} AS state, p.hidden_for, p.hidden_reason AS reason
    FROM (SELECT ${id}::bigint AS id) asked
    LEFT JOIN posts p ON p.id = asked.id
    LEFT JOIN LATERAL (
      SELECT author_id, post_text FROM reports WHERE post_id = asked.id ORDER BY id DESC LIMIT 1
    ) r ON true
    JOIN users u ON u.id = coalesce(p.owner_id, r.author_id)
    WHERE ${POST_TEXT} IS NOT NULL
    ${isAuthorKept ? AUTHOR_STAYS : sql``}`.execute(db)
  return rows[0]
}
