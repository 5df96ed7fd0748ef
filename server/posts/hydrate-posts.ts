import { type RawBuilder, sql } from 'kysely'
import type { Post, RepliedPost } from '../../contract/posts.ts'
import type { Queryable } from '../db/database.ts'

/** Who looks: decides `is_liked`. Null for a visitor. */
export type Looker = { userId: string } | null

/** SQL for one page of a list: columns `id`, the post, and `key`, its place in the list. */
export type PickedRows = RawBuilder<unknown>

type PostRow = {
  id: string
  text: string
  created_at: number
  is_modified: boolean
  owner_id: string
  username: string
  is_liked: boolean
  likes_count: number
  replies_count: number
  parent_post_id: string | null
  replied_post_id: string | null
}
/** `r_` columns are those of the post answered: all null where there is none. */
type ViewRow = PostRow & { [column in keyof PostRow as `r_${column}`]: PostRow[column] } & {
  key: string
  r_id: string | null
}

/** No user has the id 0, so a visitor has liked nothing. */
const NOBODY = '0'

/** Columns of one post for the wire from aliases of posts, users and likes. */
function columns(prefix: '' | 'r_') {
  const [post, owner, like, as] = prefix ? ['r', 'ru', 'rl', 'r_'] : ['p', 'u', 'l', '']
  return sql.raw(`${post}.id AS ${as}id, ${post}.text AS ${as}text,
    floor(extract(epoch FROM ${post}.created_at))::float8 AS ${as}created_at,
    ${post}.is_modified AS ${as}is_modified, ${post}.owner_id AS ${as}owner_id,
    ${owner}.username AS ${as}username, ${like}.user_id IS NOT NULL AS ${as}is_liked,
    ${post}.likes_count AS ${as}likes_count, ${post}.replies_count AS ${as}replies_count,
    ${post}.parent_post_id AS ${as}parent_post_id, ${post}.replied_post_id AS ${as}replied_post_id`)
}

const VIEW_COLUMNS = sql`${columns('')}, ${columns('r_')}`

/** Where the posts of a view come from: SQL that names them `p`, and for the place of each in its list. */
type Origin = { from: RawBuilder<unknown>; key: RawBuilder<unknown> }

const PICKED: Origin = { from: sql`picked JOIN posts p ON p.id = picked.id`, key: sql`picked.key` }
const INSERTED: Origin = { from: sql`post p`, key: sql`0` }

/** Each post of an origin, its owner and the viewer's like, and the same of the post it answers. */
function viewOf({ from, key }: Origin, viewer: Looker) {
  const viewerId = viewer?.userId ?? NOBODY
  return sql`SELECT ${key} AS key, ${VIEW_COLUMNS}
    FROM ${from}
    JOIN users u ON u.id = p.owner_id
    LEFT JOIN likes l ON l.post_id = p.id AND l.user_id = ${viewerId}
    LEFT JOIN posts r ON r.id = p.replied_post_id
    LEFT JOIN users ru ON ru.id = r.owner_id
    LEFT JOIN likes rl ON rl.post_id = r.id AND rl.user_id = ${viewerId}`
}

/** One post as `viewer` sees it; undefined when there is none. */
export async function selectPost(
  db: Queryable,
  id: string,
  viewer: Looker,
): Promise<Post | undefined> {
  const { rows } = await sql<ViewRow>`
    WITH picked AS (SELECT ${id}::bigint AS id, 0 AS key) ${viewOf(PICKED, viewer)}`.execute(db)
  return rows[0] && toPost(rows[0])
}

/** Runs CTEs of which one, `post`, inserts a post; gives that post as its owner sees it, undefined when none was inserted. */
export async function selectInserted(
  db: Queryable,
  ctes: RawBuilder<unknown>,
  owner: { userId: string },
): Promise<Post | undefined> {
  const { rows } = await sql<ViewRow>`WITH ${ctes} ${viewOf(INSERTED, owner)}`.execute(db)
  return rows[0] && toPost(rows[0])
}

/**
 * The posts of `picked`, by falling key, and the list's total, in one statement. The ids are picked first
 * (materialised, so that the planner joins ten rows and not the table); the views are joined to those.
 */
export async function selectViews(
  db: Queryable,
  { picked, total }: { picked: PickedRows; total: RawBuilder<unknown> },
  viewer: Looker,
): Promise<{ posts: Post[]; keys: string[]; total: number | null }> {
  const { rows } = await sql<ViewRow & { id: string | null; total: number | null }>`
    WITH picked AS MATERIALIZED (${picked}), total AS (SELECT (${total})::float8 AS total)
    SELECT total.total, view.* FROM total LEFT JOIN (${viewOf(PICKED, viewer)}) view ON true
    ORDER BY view.key DESC`.execute(db)
  const found = rows.filter((row) => row.id !== null)
  return {
    posts: found.map(toPost),
    keys: found.map((row) => row.key),
    total: rows[0]?.total ?? null,
  }
}

function toPost(row: ViewRow): Post {
  return toView(row, '', row.r_id === null ? null : toView(row, 'r_', null))
}

function toView<R extends RepliedPost | null>(row: ViewRow, prefix: '' | 'r_', repliedPost: R) {
  return {
    id: row[`${prefix}id`],
    text: row[`${prefix}text`],
    created_at: row[`${prefix}created_at`],
    is_modified: row[`${prefix}is_modified`],
    owner: { id: row[`${prefix}owner_id`], username: row[`${prefix}username`] },
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
