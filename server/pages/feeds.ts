import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { OPAQUE_MAX, PAGE_SIZE_MAX } from '../../contract/constants.ts'
import {
  authorFeedPath,
  authorPath,
  FEED_PATHS,
  PATHS,
  pageAfter,
  pageTitle,
  postPath,
  repliesFeedPath,
  TITLES,
  withCursor,
} from '../../contract/pages.ts'
import { postIdsOf, postTitle } from '../../contract/post-rules.ts'
import type { PostPage } from '../../contract/posts.ts'
import { requireProfile } from '../features/account/account.service.ts'
import { postsOf, readPostList, readThread, wall } from '../features/posts/post-lists.ts'
import { CachedResponse } from '../kernel/cache/cached-response.ts'
import type { ResponseCache } from '../kernel/cache/response-cache.ts'
import type { Db } from '../kernel/db/database.ts'
import { VISITOR_CALLS } from '../kernel/http/call-limits.ts'
import type { Limits } from '../kernel/limits/limits.ts'
import { type Feed, toAtom, toJsonFeed } from './feed-formats.ts'

type Options = {
  db: Db
  appName: string
  origin: string
  cache: Pick<ResponseCache, 'serveShared'>
  headers: Record<string, string>
  limits: Limits
}

// Parameters that others add to a link, such as `utm_source`, are ignored.
const Query = Type.Object({
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: OPAQUE_MAX })),
})
const schema = { hide: true, querystring: Query }

type Params = { id: string; username: string }
type FeedRequest = { Querystring: Type.Static<typeof Query>; Params: Params }
/** Of the feed and of its web page. The title has no name of the application yet. */
type Found = { path: string; pagePath: string; title: string; since: number; page: PostPage }
type Kind = {
  pathOf: (params: Params) => string
  read: (db: Db, params: Params, query: ReturnType<typeof pageAfter>) => Promise<Found>
  write: (feed: Feed, origin: string) => string
  type: string
}

// Browsers show the source of what is called application/atom+xml, or save it to a file.
const ATOM = { write: toAtom, type: 'application/xml; charset=utf-8' }
const JSON_FEED = { write: toJsonFeed, type: 'application/feed+json; charset=utf-8' }

const FEEDS: Record<keyof typeof FEED_PATHS, Kind> = {
  atom: { pathOf: () => FEED_PATHS.atom, read: readWall(FEED_PATHS.atom), ...ATOM },
  json: { pathOf: () => FEED_PATHS.json, read: readWall(FEED_PATHS.json), ...JSON_FEED },
  replies: { pathOf: ({ id }) => repliesFeedPath(id), read: readReplies, ...ATOM },
  author: { pathOf: ({ username }) => authorFeedPath(username), read: readAuthor, ...ATOM },
}

/** Serves the feeds of the wall, of replies to a post, of an author; a cursor continues them. */
export async function serveFeeds(app: FastifyInstance, options: Options): Promise<void> {
  const { db, appName, origin, limits, cache, headers } = options
  await app.register(async (feeds) => {
    feeds.addHook('onRequest', ({ ip }) => limits.charge([{ limit: VISITOR_CALLS, ip }]))
    for (const [name, { pathOf, read, write, type }] of Object.entries(FEEDS)) {
      const route = FEED_PATHS[name as keyof typeof FEED_PATHS]
      feeds.get<FeedRequest>(route, { schema }, (request, reply) => {
        const { params, query } = request
        const { cursor = '' } = query
        const url = withCursor(pathOf(params), cursor)
        return cache.serveShared({ request, reply, url }, async () => {
          const found = await read(db, params, pageAfter(cursor, PAGE_SIZE_MAX))
          const feed = feedOf(found, { cursor, origin, appName })
          const body = Buffer.from(write(feed, origin))
          const about = name === 'replies' ? [params.id] : []
          const postIds = [...about, ...postIdsOf(feed)]
          return new CachedResponse({ route, body, type, headers, postIds })
        })
      })
    }
  })
}

function feedOf(
  { path, pagePath, title, since, page }: Found,
  { cursor, origin, appName }: Pick<Options, 'origin' | 'appName'> & { cursor: string },
): Feed {
  const id = origin + path
  const { posts, nextCursor } = page
  return {
    id,
    url: withCursor(id, cursor),
    nextUrl: nextCursor === null ? null : withCursor(id, nextCursor),
    title: pageTitle(title, appName),
    pageUrl: origin + pagePath,
    since,
    posts,
  }
}

function readWall(path: string): Kind['read'] {
  return async (db, _params, query) => {
    const page = await readPostList(db, wall, query, null)
    return { path, pagePath: PATHS.wall, title: TITLES.wall, since: 0, page }
  }
}

async function readReplies(db: Db, { id }: Params, query: Parameters<Kind['read']>[2]) {
  const { post, replies: page } = await readThread(db, id, query)
  const title = `Ответы на запись ${postTitle(post)}`
  return { path: repliesFeedPath(id), pagePath: postPath(id), title, since: post.created_at, page }
}

async function readAuthor(db: Db, params: Params, query: Parameters<Kind['read']>[2]) {
  const { id, username, created_at: since } = await requireProfile(db, params.username)
  const page = await readPostList(db, postsOf(id), query, null)
  const [path, pagePath] = [authorFeedPath(username), authorPath(username)]
  return { path, pagePath, title: username, since, page }
}
