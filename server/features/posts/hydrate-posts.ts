import { type RawBuilder, sql } from 'kysely'
import { ANCESTORS_MAX } from '../../../contract/constants.ts'
import { WRITTEN_FIELD_NAMES } from '../../../contract/post-rules.ts'
import type { Clarification, Mention, Post, RepliedPost } from '../../../contract/posts.ts'
import type { Ancestors } from '../../../contract/replies.ts'
import { idArray, isRowId, NO_USER, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Viewer } from '../../kernel/http/route.ts'

export type PostViewer = Pick<Viewer, 'userId'> | null

type PostRow = Omit<Required<Clarification>, 'modified_at' | 'mentions' | 'owner' | 'actions'> &
  Omit<Clarification['actions'], 'replied_post'> & {
    modified_at: number | null
    mentions: Mention[] | null
    clarification_id: string | null
    owner_id: string
    /** Null if the owner has deleted the account. */
    username: string | null
  }
/** A row of the view `hydrated_posts`, with mentions and with what the viewer has liked. */
export type HydratedRow = PostRow & { [column in keyof PostRow as `r_${column}`]: PostRow[column] }

const FIELDS = ['id', ...WRITTEN_FIELD_NAMES, 'created_at', 'is_modified'] as const
const COUNTS = ['likes_count', 'replies_count'] as const
const ACTION_FIELDS = ['is_liked', ...COUNTS, 'parent_post_id', 'replied_post_id'] as const

/**
 * Reads posts as the viewer sees them; a post is undefined if its owner has left. `page` selects
 * `id` and `key`, the position in the list, and is materialised so that few rows are joined.
 */
export async function hydratePosts(db: Queryable, page: Rows, viewer: PostViewer) {
  const rows = await selectRows(db, page, viewer)
  const clarifications = await readClarifications(db, rows, viewer)
  const posts = rows.flatMap((row) =>
    row.id === null ? [] : { key: row.key, post: toPost(row, clarifications) },
  )
  return { rows: posts, total: rows[0]?.total ?? null }
}

type Rows = { page: RawBuilder<unknown>; total: RawBuilder<unknown> }

async function selectRows(db: Queryable, { page, total }: Rows, viewer: PostViewer) {
  const viewerId = viewer?.userId ?? NO_USER
  // OFFSET 0 keeps the planner from reading all likes of the viewer.
  const isLiked = (id: string) => sql`EXISTS (
    SELECT FROM likes WHERE post_id = ${sql.ref(id)} AND user_id = ${viewerId} OFFSET 0)`
  type Row = HydratedRow & { key: string; id: string | null; total: number | null }
  const { rows } = await sql<Row>`
    WITH page AS MATERIALIZED (${page}), total AS (SELECT (${total})::float8 AS total)
    SELECT total.*, hydrated.* FROM total LEFT JOIN (
      SELECT page.key, p.*, ${isLiked('p.id')} AS is_liked, ${isLiked('p.r_id')} AS r_is_liked,
        CASE WHEN strpos(p.text, '@') > 0 THEN mentions_in(p.id) END AS mentions,
        CASE WHEN strpos(p.r_text, '@') > 0 THEN mentions_in(p.r_id) END AS r_mentions,
        own.clarification_id, replied.clarification_id AS r_clarification_id
      FROM page JOIN hydrated_posts p ON p.id = page.id
      JOIN posts own ON own.id = p.id
      LEFT JOIN posts replied ON replied.id = p.r_id
    ) hydrated ON true
    ORDER BY hydrated.key DESC`.execute(db)
  return rows
}

const NO_TOTAL = sql`SELECT 0`

type Clarifications = ReadonlyMap<string | null, Clarification>

/** Reads the visible clarifications of posts, and of the posts that they reply to, by their ids. */
async function readClarifications(
  db: Queryable,
  rows: readonly Pick<HydratedRow, 'clarification_id' | 'r_clarification_id'>[],
  viewer: PostViewer,
): Promise<Clarifications> {
  const named = rows.flatMap((row) => [row.clarification_id, row.r_clarification_id])
  const ids = [...new Set(named)].filter((id) => id !== null)
  if (ids.length === 0) return new Map()
  return toClarifications(await selectRows(db, { page: pageOf(ids), total: NO_TOTAL }, viewer))
}

/** Leaves out rows without a post, and posts whose owner has left. */
export function toClarifications(rows: readonly HydratedRow[]): Clarifications {
  return new Map(
    rows
      .filter(({ id, username }) => id !== null && username !== null)
      .map((row) => [row.id, readColumns(row, '', null)]),
  )
}

/** Selects posts in the order of `ids`; their subquery avoids planning each call anew. */
function pageOf(ids: string[]) {
  return sql`SELECT id, -place AS key
    FROM unnest((SELECT ${idArray(ids)}::bigint[])) WITH ORDINALITY AS asked (id, place)`
}

/** Reads a post as the viewer sees it. Throws POST_NOT_FOUND. */
export async function requirePost(db: Queryable, id: string, viewer: PostViewer): Promise<Post> {
  if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
  const page = sql`SELECT ${id}::bigint AS id, 0 AS key`
  const { rows } = await hydratePosts(db, { page, total: NO_TOTAL }, viewer)
  if (!rows[0]?.post) throw new AppError('POST_NOT_FOUND')
  return rows[0].post
}

/** Reads the visible posts in the order of `ids`. */
export async function readPosts(db: Queryable, ids: string[], viewer: PostViewer): Promise<Post[]> {
  const { rows } = await hydratePosts(db, { page: pageOf(ids), total: NO_TOTAL }, viewer)
  return rows.flatMap(({ post }) => post ?? [])
}

/** Reads the nearest ancestors of a reply, up to a purged post. Throws POST_NOT_FOUND. */
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

/** Returns undefined if the owner has left. */
export function toPost(row: HydratedRow, clarifications: Clarifications): Post | undefined {
  const read = <R extends RepliedPost | null>(prefix: '' | 'r_', repliedPost: R) => {
    const clarification = clarifications.get(row[`${prefix}clarification_id`])
    return { ...readColumns(row, prefix, repliedPost), ...(clarification && { clarification }) }
  }
  const replied = row.r_username === null ? null : read('r_', null)
  return row.username === null ? undefined : read('', replied)
}

function readColumns<R extends RepliedPost | null>(
  row: HydratedRow,
  prefix: '' | 'r_',
  repliedPost: R,
) {
  const modifiedAt = row[`${prefix}modified_at`]
  const mentions = row[`${prefix}mentions`]
  return {
    ...pick(row, prefix, FIELDS),
    ...(modifiedAt !== null && { modified_at: modifiedAt }),
    owner: { id: row[`${prefix}owner_id`], username: row[`${prefix}username`] ?? '' },
    ...(mentions !== null && { mentions }),
    actions: { ...pick(row, prefix, ACTION_FIELDS), replied_post: repliedPost },
  }
}

function pick<C extends keyof PostRow>(row: HydratedRow, prefix: '' | 'r_', columns: readonly C[]) {
  const fields = columns.map((column) => [column, row[`${prefix}${column}`]])
  return Object.fromEntries(fields) as Pick<PostRow, C>
}
