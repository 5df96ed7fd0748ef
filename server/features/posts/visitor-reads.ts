import type { Db } from '../../kernel/db/database.ts'
import type { RunRead } from '../../kernel/db/replica.ts'
import type { PageReads } from '../../kernel/pages/rendered-pages.ts'
import type { SitemapReads } from '../../kernel/pages/sitemap.ts'
import { readAncestors } from './ancestors.ts'
import { readIdRanges, readPostsInRange } from './id-ranges.ts'
import { postsOf, readPostList, readThread, repliesOf, wall } from './post-lists.ts'
import { requirePost } from './posts.service.ts'

type PostReads = Pick<
  PageReads,
  'readWall' | 'readPost' | 'readThread' | 'readAncestors' | 'readPostsOf' | 'readRepliesOf'
> &
  SitemapReads

/** Makes the reads of posts for pages, feeds and sitemaps, which show what any visitor sees. */
export function createVisitorReads(db: Db, runRead: RunRead): PostReads {
  return {
    readWall: (query) => runRead(null, (from) => readPostList(from, wall, query, null)),
    readPost: (id) => runRead(null, (from) => requirePost(from, id, null)),
    readThread: (id, query) => runRead(null, (from) => readThread(from, id, query)),
    readPostsOf: (userId, query) =>
      runRead(null, (from) => readPostList(from, postsOf(userId), query, null)),
    readRepliesOf: (userId, query) =>
      runRead(null, (from) => readPostList(from, repliesOf(userId), query, null)),
    readAncestors: (id, limit) => runRead(null, (from) => readAncestors(from, { id, limit }, null)),
    readIdRanges: (ranges) => readIdRanges(db, ranges),
    readPostsInRange: (range) => readPostsInRange(db, range),
  }
}
