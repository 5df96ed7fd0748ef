import { sql } from 'kysely'
import type { PostState } from '../../../contract/moderation.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import type { HiddenFor } from '../../kernel/db/tables.ts'
import type { StoredBlock } from './blocks.repository.ts'
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

/** What a decision stores in the journal, so that it can be undone and announced. */
export type DecisionDetails = {
  text: string
  was: PostState
  /** Why the post was hidden before the decision. */
  archivedFor: string | null
  /** The block before the decision, when it has blocked the author. */
  blockBefore?: StoredBlock | null
  note?: string
  [more: string]: unknown
}

export type Decision = {
  id: string
  action: string
  user_id: string
  post_id: string
  reason: string | null
  details: DecisionDetails
}

export const DECISIONS = {
  remove: 'post.remove',
  keep: 'post.keep',
  restore: 'post.restore',
  undo: 'decision.undo',
} as const

function selectDecision(db: Queryable, id: string) {
  return db
    .selectFrom('journal')
    .select(['id', 'action', 'user_id', 'post_id', 'reason', 'details'])
    .where('id', '=', id)
    .where('action', 'in', [DECISIONS.remove, DECISIONS.keep, DECISIONS.restore])
    .$castTo<Decision>()
}

/** Locks a decision that its own maker made within so many seconds. */
export function lockRecentDecision(
  tx: Queryable,
  { id, actor, seconds }: { id: string; actor: string; seconds: number },
): Promise<Decision | undefined> {
  return selectDecision(tx, id)
    .where('actor', '=', actor)
    .where('at', '>', sql<Date>`now() - ${seconds} * interval '1 second'`)
    .forUpdate()
    .executeTakeFirst()
}

export async function selectStandingDecision(
  db: Queryable,
  id: string,
): Promise<Decision | undefined> {
  const decision = await selectDecision(db, id).executeTakeFirst()
  return decision && !(await isUndone(db, decision)) ? decision : undefined
}

export async function isUndone(db: Queryable, { id, post_id }: Decision): Promise<boolean> {
  const row = await db
    .selectFrom('journal')
    .select('id')
    .where('post_id', '=', post_id)
    .where('action', '=', DECISIONS.undo)
    .where(sql<boolean>`details->>'decision' = ${id}`)
    .executeTakeFirst()
  return row !== undefined
}
