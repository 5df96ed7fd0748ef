import type { Db } from '../../kernel/db/database.ts'
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
export function createVisitorReads(db: Db): PostReads {
  return {
    readWall: (query) => readPostList(db, wall, query, null),
    readPost: (id) => requirePost(db, id, null),
    readThread: (id, query) => readThread(db, id, query),
    readPostsOf: (userId, query) => readPostList(db, postsOf(userId), query, null),
    readRepliesOf: (userId, query) => readPostList(db, repliesOf(userId), query, null),
    readAncestors: (id, limit) => readAncestors(db, { id, limit }, null),
    readIdRanges: (ranges) => readIdRanges(db, ranges),
    readPostsInRange: (range) => readPostsInRange(db, range),
  }
}
