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
import type { Http } from '../kernel/http/route.ts'
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

// Browsers show the source of what is called application/atom+xml, or save it to a file.
const ATOM = { write: toAtom, type: 'application/xml; charset=utf-8' }
const JSON_FEED = { write: toJsonFeed, type: 'application/feed+json; charset=utf-8' }
const FORMATS = { atom: ATOM, json: JSON_FEED, replies: ATOM, author: ATOM }

// Parameters that others add to a link, such as `utm_source`, are ignored.
const Query = Type.Object({
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: OPAQUE_MAX })),
})
const schema = { hide: true, querystring: Query }
type WallRequest = { Querystring: Type.Static<typeof Query> }
type RepliesRequest = WallRequest & { Params: { id: string } }
type AuthorRequest = WallRequest & { Params: { username: string } }

/** Serves the feeds of the wall, of replies to a post, of an author; a cursor continues them. */
export async function serveFeeds(app: FastifyInstance, options: Options): Promise<void> {
  const { origin, limits, cache, headers } = options

  function serve(
    { format, url, about }: { format: keyof typeof FORMATS; url: string; about?: string },
    http: Http,
    read: () => Promise<Feed>,
  ): Promise<Buffer> {
    return cache.serveShared({ ...http, url }, async () => {
      const { write, type } = FORMATS[format]
      const feed = await read()
      const body = Buffer.from(write(feed, origin))
      return new CachedResponse({
        route: FEED_PATHS[format],
        body,
        type,
        headers,
        postIds: [...(about === undefined ? [] : [about]), ...postIdsOf(feed)],
      })
    })
  }

  await app.register(async (feeds) => {
    feeds.addHook('onRequest', ({ ip }) => limits.charge([{ limit: VISITOR_CALLS, ip }]))

    for (const format of ['atom', 'json'] as const) {
      const path = FEED_PATHS[format]
      feeds.get<WallRequest>(path, { schema }, (request, reply) => {
        const { cursor = '' } = request.query
        const url = withCursor(path, cursor)
        return serve({ format, url }, { request, reply }, () => readWallFeed(options, path, cursor))
      })
    }

    feeds.get<RepliesRequest>(FEED_PATHS.replies, { schema }, (request, reply) => {
      const { id } = request.params
      const { cursor = '' } = request.query
      const url = withCursor(repliesFeedPath(id), cursor)
      return serve({ format: 'replies', url, about: id }, { request, reply }, () =>
        readRepliesFeed(options, id, cursor),
      )
    })

    feeds.get<AuthorRequest>(FEED_PATHS.author, { schema }, (request, reply) => {
      const { username } = request.params
      const { cursor = '' } = request.query
      const url = withCursor(authorFeedPath(username), cursor)
      return serve({ format: 'author', url }, { request, reply }, () =>
        readAuthorFeed(options, username, cursor),
      )
    })
  })
}

async function readWallFeed(
  { db, appName, origin }: Options,
  path: string,
  cursor: string,
): Promise<Feed> {
  const page = await readPostList(db, wall, pageAfter(cursor, PAGE_SIZE_MAX), null)
  return {
    ...pagesOf(origin + path, cursor, page),
    title: pageTitle(TITLES.wall, appName),
    pageUrl: origin + PATHS.wall,
    since: 0,
  }
}

async function readRepliesFeed(
  { db, appName, origin }: Options,
  postId: string,
  cursor: string,
): Promise<Feed> {
  const query = pageAfter(cursor, PAGE_SIZE_MAX)
  const { post, replies: page } = await readThread(db, postId, query)
  return {
    ...pagesOf(origin + repliesFeedPath(postId), cursor, page),
    title: pageTitle(`Ответы на запись ${postTitle(post)}`, appName),
    pageUrl: origin + postPath(postId),
    since: post.created_at,
  }
}

async function readAuthorFeed(
  { db, appName, origin }: Options,
  name: string,
  cursor: string,
): Promise<Feed> {
  const { id, username, created_at } = await requireProfile(db, name)
  const page = await readPostList(db, postsOf(id), pageAfter(cursor, PAGE_SIZE_MAX), null)
  return {
    ...pagesOf(origin + authorFeedPath(username), cursor, page),
    title: pageTitle(username, appName),
    pageUrl: origin + authorPath(username),
    since: created_at,
  }
}

function pagesOf(id: string, cursor: string, { posts, nextCursor }: PostPage) {
  return {
    id,
    url: withCursor(id, cursor),
    nextUrl: nextCursor === null ? null : withCursor(id, nextCursor),
    posts,
  }
}
