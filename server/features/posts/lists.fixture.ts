import { type RawBuilder, sql } from 'kysely'

/** What tests have to know about a list of posts. */
type ListCase = {
  /** Selects the ids of the list for a user in the simplest way. */
  ids: (userId: string) => RawBuilder<unknown>
  /** Whether the server leaves out the authors whom the reader has muted. Else the browser does. */
  leavesOutMuted?: true
  /** How many rows a step may read, if the total needs more than a page. */
  rows?: number
  /** The tables of which the total reads every row of the list. */
  counts?: string[]
}

/**
 * The lists that are read in pages, by their calls, in which `:me` is the reader and `:id` a post.
 * They are read in paging.test.ts, plans.test.ts and mutes.test.ts.
 */
export const PAGED_LISTS: Record<string, ListCase> = {
  'GET /posts': {
    ids: () => sql`SELECT id FROM posts WHERE replied_post_id IS NULL ORDER BY id DESC`,
  },
  'GET /posts?userId=:me': {
    ids: (me) => sql`SELECT id FROM posts WHERE owner_id = ${me} AND replied_post_id IS NULL
      ORDER BY id DESC`,
  },
  'GET /posts?filter=liked': {
    ids: (me) => sql`SELECT post_id AS id FROM likes WHERE user_id = ${me} ORDER BY likes.id DESC`,
    counts: ['likes', 'posts'],
  },
  'GET /posts/replies': {
    ids: (me) => sql`SELECT id FROM posts WHERE owner_id = ${me} AND replied_post_id IS NOT NULL
      ORDER BY id DESC`,
  },
  'GET /posts/replies/received': {
    ids: (me) => sql`SELECT id FROM posts WHERE recipient_id = ${me} ORDER BY received_no DESC`,
    leavesOutMuted: true,
    rows: 1000,
  },
  'GET /posts/:id/replies': {
    ids: () => sql`SELECT id FROM posts WHERE replied_post_id IS NOT NULL ORDER BY id DESC`,
  },
}

/** Returns the address of a call for a reader and a post, up to where more parameters follow. */
export function listAddress(call: string, me: string, postId: string): string {
  const address = call.replace('GET ', '').replace(':me', me).replace(':id', postId)
  return address + (address.includes('?') ? '&' : '?')
}
