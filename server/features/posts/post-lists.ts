import { type RawBuilder, sql } from 'kysely'
import { PAGE_SIZE, PAGE_SIZE_MAX } from '../../../contract/constants.ts'
import type { PageQuery } from '../../../contract/fields.ts'
import type { Post, PostPage } from '../../../contract/posts.ts'
import { isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { Gate } from '../../kernel/gate/gate.ts'
import { widestNetworkOf } from '../../kernel/limits/limits.ts'
import { hydratePosts, type PostViewer } from './hydrate-posts.ts'

/** SQL of a list, newest first. `key` is the position; `total` is null for a missing post. */
type PostList = {
  from: RawBuilder<unknown>
  postId?: RawBuilder<unknown>
  key?: RawBuilder<unknown>
  total: RawBuilder<unknown>
}

export const wallPosts: PostList = {
  from: sql`FROM visible_posts WHERE replied_post_id IS NULL`,
  total: sql`SELECT coalesce(sum(posts), 0) FROM wall_totals`,
}

export function postsOf(ownerId: string): PostList {
  return {
    from: sql`FROM visible_posts WHERE owner_id = ${ownerId}::bigint AND replied_post_id IS NULL`,
    total: sql`SELECT coalesce((SELECT posts FROM owner_totals WHERE user_id = ${ownerId}::bigint), 0)`,
  }
}

export function repliesOf(ownerId: string): PostList {
  return {
    from: sql`FROM visible_posts WHERE owner_id = ${ownerId}::bigint AND replied_post_id IS NOT NULL`,
    total: sql`SELECT coalesce((SELECT replies FROM owner_totals WHERE user_id = ${ownerId}::bigint), 0)`,
  }
}

export function repliesTo(postId: string): PostList {
  return {
    from: sql`FROM visible_posts WHERE replied_post_id = ${postId}::bigint`,
    total: sql`SELECT replies_count FROM visible_posts WHERE id = ${postId}::bigint`,
  }
}

/** Orders by the time of the like. The total is counted: 3 ms for a thousand likes. */
export function likedPostsOf(userId: string): PostList {
  return {
    from: sql`FROM likes JOIN visible_posts post ON post.id = likes.post_id
      WHERE user_id = ${userId}::bigint`,
    postId: sql`post_id`,
    key: sql`likes.id`,
    // For a join, the planner could read all posts.
    total: sql`SELECT count(*) FROM visible_posts
      WHERE id = ANY (ARRAY(SELECT post_id FROM likes WHERE user_id = ${userId}::bigint))`,
  }
}

const RECEIVED_COUNTED = sql.lit(1000)

/** The replies to a user, and the posts that mention them, without authors that they have muted. */
export function receivedRepliesOf(userId: string): PostList {
  const from = sql`FROM received_replies WHERE recipient_id = ${userId}::bigint`
  return {
    from,
    key: sql`received_no`,
    total: sql`SELECT count(*) FROM (SELECT ${from} LIMIT ${RECEIVED_COUNTED}) counted`,
  }
}

/** What everybody may know of the same: also replies that the user has muted, by author or post. */
export function publicReceivedOf(userId: string): PostList {
  return {
    from: sql`FROM received_posts WHERE recipient_id = ${userId}::bigint`,
    key: sql`received_no`,
    // A feed has no total.
    total: sql`SELECT 0`,
  }
}

/** Up to this offset, skipping is cheap. Beyond it, the list is read from its nearer end. */
const SHALLOW_OFFSET = 1000
/** Reads that skip more rows from the nearer end take milliseconds, so they queue for a slot. */
const DEEP_OFFSET = 5000

/** Limits deep reads: among a million posts one may take a tenth of a second of a processor. */
const deepReads = new Gate({
  running: 2,
  each: 1,
  waiting: 16,
  waitMs: 1000,
  message: 'Так далеко от начала сейчас читают многие. Попробуйте ещё раз через несколько секунд',
})

/** `ip` is the reader's address; it may be left out if there is no `page`. */
type ListQuery = PageQuery & { ip?: string }

/** Throws INVALID_REQUEST for a bad cursor, POST_NOT_FOUND for a missing post, or UNAVAILABLE. */
export async function readPostList(
  db: Queryable,
  list: PostList,
  query: ListQuery,
  viewer: PostViewer,
): Promise<PostPage> {
  const { rows, ...page } = await readPostRows(db, list, query, viewer)
  return { ...page, posts: rows.map(({ post }) => post) }
}

/** Reads as `readPostList` does, and returns each post with its position in the list. */
export async function readPostRows(
  db: Queryable,
  list: PostList,
  query: ListQuery,
  viewer: PostViewer,
) {
  const limit = query.limit ?? PAGE_SIZE
  const { page, skipped } = await selectPage(db, list, { ...query, limit })
  const read = () => hydratePosts(db, { page, total: list.total }, viewer)
  const isDeep = skipped > DEEP_OFFSET
  const found = await (isDeep ? deepReads.run(read, widestNetworkOf(query.ip)) : read())
  return toPage(found, { ...query, limit })
}

/** Reads a post and one page of its replies as visitors see them. Throws POST_NOT_FOUND. */
export async function readThread(
  db: Queryable,
  id: string,
  query: { cursor?: string; limit: number },
): Promise<{ post: Post; replies: PostPage }> {
  if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
  const list = repliesTo(id)
  const replies = await selectPage(db, list, query)
  // The key of the post makes it the last row, because replies are newer than their post.
  const both = sql`(${replies.page}) UNION ALL SELECT ${id}::bigint, ${id}::bigint`
  const found = await hydratePosts(db, { page: both, total: list.total }, null)
  const post = found.rows.pop()?.post
  if (!post) throw new AppError('POST_NOT_FOUND')
  const { rows, ...page } = toPage(found, query)
  return { post, replies: { ...page, posts: rows.map((row) => row.post) } }
}

function toPage(
  { rows, total }: Awaited<ReturnType<typeof hydratePosts>>,
  { cursor = '', limit }: { cursor?: string | undefined; limit: number },
) {
  if (total === null) throw new AppError('POST_NOT_FOUND')
  const hasMore = rows.length > limit
  const [, direction = ''] = CURSOR.exec(cursor) ?? []
  const shown = (direction ? rows.reverse() : rows).slice(0, limit)
  const last = shown.at(-1)
  return {
    rows: shown.flatMap(({ key, post }) => (post ? [{ key, post }] : [])),
    firstPage: 1,
    lastPage: Math.max(1, Math.ceil(total / limit)),
    total,
    nextCursor: hasMore && last ? direction + last.key : null,
  }
}

/** Matches a cursor: the direction and the position of the last post of the previous page. */
const CURSOR = /^(oldest-)?(\d{1,18})$/

export function invalidCursorError(): AppError {
  return new AppError('INVALID_REQUEST', { message: 'Недопустимое значение параметра «cursor»' })
}

/** Returns SQL for the rows of a page and one more row, which shows whether the list continues. */
async function selectPage(
  db: Queryable,
  { from, postId = sql`id`, key = sql`id`, total: totalRows }: PostList,
  { page, cursor, limit }: PageQuery & { limit: number },
): Promise<{ page: RawBuilder<unknown>; skipped: number }> {
  const columns = sql`SELECT ${postId} AS id, ${key} AS key ${from}`
  if (cursor !== undefined) {
    const [, direction, at] = CURSOR.exec(cursor) ?? []
    if (page !== undefined) {
      throw new AppError('INVALID_REQUEST', { message: 'Укажите или «page», или «cursor»' })
    }
    if (!at) throw invalidCursorError()
    const [isPast, order] = direction ? [sql`>`, OLDEST_FIRST] : [sql`<`, NEWEST_FIRST]
    const rest = sql`${columns} AND ${key} ${isPast} ${at}::bigint`
    return { page: selectSlice(limit + 1, rest, order), skipped: 0 }
  }
  const offset = ((page ?? 1) - 1) * limit
  if (offset > SHALLOW_OFFSET) {
    const total = await readTotal(db, totalRows)
    if (offset > total / 2) {
      const count = Math.max(0, Math.min(limit + 1, total - offset))
      const skipped = Math.max(0, total - offset - count)
      return { page: selectSlice(count, columns, OLDEST_FIRST, skipped), skipped }
    }
  }
  return { page: selectSlice(limit + 1, columns, NEWEST_FIRST, offset), skipped: offset }
}

const NEWEST_FIRST = sql`ORDER BY key DESC`
const OLDEST_FIRST = sql`ORDER BY key`

/**
 * Selects `count` rows after `skipped` ones. With a parameter in the inner LIMIT or in an OFFSET of 0,
 * PostgreSQL would replan each read.
 */
function selectSlice(
  count: number,
  rows: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
  skipped = 0,
): RawBuilder<unknown> {
  const offset = skipped === 0 ? sql`` : sql`OFFSET ${skipped}`
  return sql`SELECT id, key FROM (${rows} ${order} ${offset} ${ROWS_MAX}) nearest LIMIT ${count}`
}

const ROWS_MAX = sql.raw(`LIMIT ${PAGE_SIZE_MAX + 1}`)

async function readTotal(db: Queryable, total: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number | null }>`SELECT (${total})::float8 AS total`.execute(
    db,
  )
  return rows[0]?.total ?? 0
}
