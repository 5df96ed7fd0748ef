import { type RawBuilder, sql } from 'kysely'
import type { Post, RepliedPost } from '../../../contract/posts.ts'
import { idArray, isRowId, NO_USER, type Queryable, unixSeconds } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Viewer } from '../../kernel/http/route.ts'

export type PostViewer = Pick<Viewer, 'userId'> | null

/** SQL that selects one page of a list: `id` of the post, and `key`, its position in the list. */
export type PageRows = RawBuilder<unknown>

type PostRow = {
  id: string
  text: string
  created_at: number
  is_modified: boolean
  modified_at: number | null
  owner_id: string
  /** Null if the owner has deleted the account. */
  username: string | null
  is_liked: boolean
  likes_count: number
  replies_count: number
  parent_post_id: string | null
  replied_post_id: string | null
}
/** The `r_` columns belong to the replied post and are all null without one. */
type HydratedRow = PostRow & {
  [column in keyof PostRow as `r_${column}`]: PostRow[column]
} & {
  key: string
}

function columns(prefix: '' | 'r_') {
  const [post, owner, like, as] = prefix ? ['r', 'ru', 'rl', 'r_'] : ['p', 'u', 'l', '']
  return sql`${sql.raw(`${post}.id AS ${as}id, ${post}.text AS ${as}text`)},
    ${unixSeconds(`${post}.created_at`)} AS ${sql.raw(`${as}created_at,
    ${post}.is_modified AS ${as}is_modified, `)}${unixSeconds(`${post}.modified_at`)} AS ${sql.raw(`${as}modified_at, ${post}.owner_id AS ${as}owner_id,
    ${owner}.username AS ${as}username, ${like}.user_id IS NOT NULL AS ${as}is_liked,
    ${post}.likes_count AS ${as}likes_count, ${post}.replies_count AS ${as}replies_count,
    ${post}.parent_post_id AS ${as}parent_post_id, ${post}.replied_post_id AS ${as}replied_post_id`)}`
}

const COLUMNS = sql`${columns('')}, ${columns('r_')}`

type HydratedPost = { key: string; post: Post | undefined }

/**
 * Reads the posts of a page as the viewer sees them; `total` may count the rows of `page`. Posts
 * of an owner who has left have no username, until a job has hidden them all. The page is
 * materialised first, so that the planner joins ten rows, not the whole table.
 */
export async function hydratePosts(
  db: Queryable,
  { page, total }: { page: PageRows; total: RawBuilder<unknown> },
  viewer: PostViewer,
): Promise<{ rows: HydratedPost[]; total: number | null }> {
  const viewerId = viewer?.userId ?? NO_USER
  const { rows } = await sql<HydratedRow & { id: string | null; total: number | null }>`
    WITH page AS MATERIALIZED (${page}), total AS (SELECT (${total})::float8 AS total)
    SELECT total.*, hydrated.* FROM total LEFT JOIN (
      SELECT page.key, ${COLUMNS}
      FROM page JOIN visible_posts p ON p.id = page.id
      LEFT JOIN users u ON u.id = p.owner_id AND u.deleted_at IS NULL
      LEFT JOIN likes l ON l.post_id = p.id AND l.user_id = ${viewerId}
      LEFT JOIN visible_posts r ON r.id = p.replied_post_id
      LEFT JOIN users ru ON ru.id = r.owner_id AND ru.deleted_at IS NULL
      LEFT JOIN likes rl ON rl.post_id = r.id AND rl.user_id = ${viewerId}
    ) hydrated ON true
    ORDER BY hydrated.key DESC`.execute(db)
  const found = rows.filter((row) => row.id !== null)
  return {
    rows: found.map((row) => ({ key: row.key, post: toPost(row) })),
    total: rows[0]?.total ?? null,
  }
}

const NO_TOTAL = sql`SELECT 0`

/** Throws POST_NOT_FOUND. */
export async function requirePost(db: Queryable, id: string, viewer: PostViewer): Promise<Post> {
  if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
  const page = sql`SELECT ${id}::bigint AS id, 0 AS key`
  const { rows } = await hydratePosts(db, { page, total: NO_TOTAL }, viewer)
  if (!rows[0]?.post) throw new AppError('POST_NOT_FOUND')
  return rows[0].post
}

/**
 * Reads posts in the order of `ids`, without those that no visitor can see. The array stands in a
 * subquery, or PostgreSQL would plan each call anew.
 */
export async function readPosts(db: Queryable, ids: string[], viewer: PostViewer): Promise<Post[]> {
  const page = sql`SELECT id, -place AS key
    FROM unnest((SELECT ${idArray(ids)}::bigint[])) WITH ORDINALITY AS asked (id, place)`
  const { rows } = await hydratePosts(db, { page, total: NO_TOTAL }, viewer)
  return rows.flatMap(({ post }) => post ?? [])
}

function toPost(row: HydratedRow): Post | undefined {
  if (row.username === null) return undefined
  return postOf(row, '', row.r_username === null ? null : postOf(row, 'r_', null))
}

function postOf<R extends RepliedPost | null>(row: HydratedRow, prefix: '' | 'r_', repliedPost: R) {
  const modifiedAt = row[`${prefix}modified_at`]
  return {
    id: row[`${prefix}id`],
    text: row[`${prefix}text`],
    created_at: row[`${prefix}created_at`],
    is_modified: row[`${prefix}is_modified`],
    ...(modifiedAt !== null && { modified_at: modifiedAt }),
    owner: { id: row[`${prefix}owner_id`], username: row[`${prefix}username`] ?? '' },
    actions: {
      is_liked: row[`${prefix}is_liked`],
      likes_count: row[`${prefix}likes_count`],
      replies_count: row[`${prefix}replies_count`],
      parent_post_id: row[`${prefix}parent_post_id`],
      replied_post_id: row[`${prefix}replied_post_id`],
      replied_post: repliedPost,
    },
  }
}
