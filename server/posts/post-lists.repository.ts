import { type RawBuilder, sql } from 'kysely'
import { PAGE_SIZE, PAGE_SIZE_MAX } from '../../contract/constants.ts'
import type { PageQuery } from '../../contract/fields.ts'
import type { PostPage } from '../../contract/posts.ts'
import type { Queryable } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { readDeep } from './deep-pages.ts'
import { type Looker, type PickedRows, selectViews } from './hydrate-posts.ts'

/**
 * A list of posts, newest first: where its rows are, which columns hold the post's id and the place, and its total,
 * which is null when the list is about a post that is gone.
 */
export type PostList = {
  from: RawBuilder<unknown>
  id: RawBuilder<unknown>
  key: RawBuilder<unknown>
  total: RawBuilder<unknown>
}

/** An offset up to this is cheap to skip; past it the list is read from its nearer end. */
const SHALLOW_OFFSET = 1000
/** Past this from the nearer end a page takes its turn: skipping so many rows takes some milliseconds. */
const DEEP_OFFSET = 5000

/**
 * One page of a list as `viewer` sees it. A cursor's cost does not depend on its depth; a page's grows with the way from
 * the nearer end, and too many deep ones at once are UNAVAILABLE. Throws INVALID_REQUEST for a cursor that is none, or
 * one beside a page; POST_NOT_FOUND when the list is about a post that is gone.
 */
export async function readPostList(
  db: Queryable,
  list: PostList,
  query: PageQuery,
  viewer: Looker,
): Promise<PostPage> {
  const limit = query.limit ?? PAGE_SIZE
  const { picked, skipped } = await pick(db, list, { ...query, limit })
  const read = () => selectViews(db, { picked, total: list.total }, viewer)
  const { posts, keys, total } = await (skipped > DEEP_OFFSET ? readDeep(read) : read())
  if (total === null) throw new AppError('POST_NOT_FOUND')
  const hasMore = posts.length > limit
  return {
    posts: posts.slice(0, limit),
    firstPage: 1,
    lastPage: Math.max(1, Math.ceil(total / limit)),
    total,
    nextCursor: hasMore ? (keys[limit - 1] ?? null) : null,
  }
}

/** SQL for the rows of a page and the one after, which tells whether there is more; and how many rows it skips to get there. */
async function pick(
  db: Queryable,
  list: PostList,
  { page, cursor, limit }: PageQuery & { limit: number },
): Promise<{ picked: PickedRows; skipped: number }> {
  const { id, key, from } = list
  const columns = sql`SELECT ${id} AS id, ${key} AS key ${from}`
  if (cursor !== undefined) {
    if (page !== undefined || !/^\d{1,18}$/.test(cursor)) throw new AppError('INVALID_REQUEST')
    const older = sql`${columns} AND ${key} < ${cursor}::bigint`
    return { picked: first(limit + 1, older, NEWEST_FIRST), skipped: 0 }
  }
  const offset = ((page ?? 1) - 1) * limit
  if (offset > SHALLOW_OFFSET) {
    const total = await readTotal(db, list)
    if (offset > total / 2) {
      const count = Math.max(0, Math.min(limit + 1, total - offset))
      const skipped = Math.max(0, total - offset - count)
      return { picked: first(count, columns, sql`ORDER BY key OFFSET ${skipped}`), skipped }
    }
  }
  const order = offset === 0 ? NEWEST_FIRST : sql`${NEWEST_FIRST} OFFSET ${offset}`
  return { picked: first(limit + 1, columns, order), skipped: offset }
}

const NEWEST_FIRST = sql`ORDER BY key DESC`

/**
 * SQL for so many rows of `rows` in an order, the same text for any number: each text is a plan that every connection
 * keeps. The inner LIMIT has its number in the text, because for a parameter PostgreSQL expects a tenth of the table, and
 * then plans each read anew, which takes longer than the read. The outer one stops the inner after `count` rows.
 */
function first(
  count: number,
  rows: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`SELECT id, key FROM (${rows} ${order} ${ROWS_MAX}) nearest LIMIT ${count}`
}

/** A full page and the one row after it. */
const ROWS_MAX = sql.raw(`LIMIT ${PAGE_SIZE_MAX + 1}`)

async function readTotal(db: Queryable, { total }: PostList): Promise<number> {
  const { rows } = await sql<{ total: number | null }>`SELECT (${total})::float8 AS total`.execute(
    db,
  )
  return rows[0]?.total ?? 0
}
