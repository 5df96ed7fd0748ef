import { requireProfile } from '../features/account/account.service.ts'
import { readAncestors } from '../features/posts/ancestors.ts'
import { requirePost } from '../features/posts/hydrate-posts.ts'
import { readIdRanges, readPostsInRange } from '../features/posts/id-ranges.ts'
import { postsOf, readPostList, readThread, repliesOf, wall } from '../features/posts/post-lists.ts'
import type { Search } from '../features/search/search.service.ts'
import { createSiteStateReader } from '../features/site-state/site-state.service.ts'
import type { ReadText } from '../features/texts/texts.service.ts'
import type { Db } from '../kernel/db/database.ts'
import type { ListQuery } from '../kernel/http/route.ts'

type Parts = {
  db: Db
  search: Search
  readText: ReadText
}

/** What pages, feeds and sitemaps read: everything as a visitor sees it. */
export type PageReads = ReturnType<typeof createPageReads>

/** The reads reject with *_NOT_FOUND, and with INVALID_REQUEST for a malformed cursor. */
export function createPageReads({ db, search, readText }: Parts) {
  return {
    readWall: (query: ListQuery) => readPostList(db, wall, query, null),
    readPost: (id: string) => requirePost(db, id, null),
    readThread: (id: string, query: ListQuery) => readThread(db, id, query),
    readPostsOf: (userId: string, query: ListQuery) =>
      readPostList(db, postsOf(userId), query, null),
    readRepliesOf: (userId: string, query: ListQuery) =>
      readPostList(db, repliesOf(userId), query, null),
    readAncestors: (id: string, limit: number) => readAncestors(db, { id, limit }, null),
    readProfile: (username: string) => requireProfile(db, username),
    readIdRanges: (ranges: { size: number; count: number }) => readIdRanges(db, ranges),
    readPostsInRange: (range: { size: number; number: number }) => readPostsInRange(db, range),
    readText,
    search,
    /** Never rejects. */
    readSiteState: createSiteStateReader(db),
  }
}
