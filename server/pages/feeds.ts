import Type from 'typebox'
import { OPAQUE_MAX, PAGE_SIZE_MAX } from '../../contract/constants.ts'
import {
  authorPath,
  FEED_PATHS,
  feedPath,
  PATHS,
  pageAfter,
  pageTitle,
  postPath,
  TITLES,
  withCursor,
} from '../../contract/pages.ts'
import { postIdsOf, postTitle } from '../../contract/post-rules.ts'
import type { PostPage } from '../../contract/posts.ts'
import { requireProfile } from '../features/account/account.service.ts'
import {
  postsOf,
  publicReceivedOf,
  readPostList,
  readThread,
  wallPosts,
} from '../features/posts/post-lists.ts'
import { CachedResponse } from '../kernel/cache/cached-response.ts'
import { originOf } from '../kernel/config/config.ts'
import type { Db } from '../kernel/db/database.ts'
import { callCharge } from '../kernel/http/call-limits.ts'
import { type Feed, toAtom, toJsonFeed } from './feed-formats.ts'
import type { PagesContext } from './web-app.ts'

// Parameters that others add to a link, such as `utm_source`, are ignored.
const Querystring = Type.Object({
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: OPAQUE_MAX })),
})
const schema = { querystring: Querystring }

type Params = Partial<Record<'id' | 'username', string>>
type FeedRequest = { Querystring: Type.Static<typeof Querystring>; Params: Params }
/** `path` is the feed's own path if it differs from the URL; `title` lacks the app's name. */
type FeedSource = {
  path?: string
  pagePath: string
  title: string
  /** Shown to people who open the feed in a browser. */
  note?: string
  since: number
  page: PostPage
}
type Query = ReturnType<typeof pageAfter>
type Kind = {
  read: (db: Db, about: string, query: Query) => Promise<FeedSource>
  write: (feed: Feed, origin: string) => string
  type: string
  shared?: Pick<ConstructorParameters<typeof CachedResponse>[0], 'browserType' | 'vary'>
}

const ATOM: Pick<Kind, 'write' | 'type' | 'shared'> = {
  write: toAtom,
  type: 'application/atom+xml; charset=utf-8',
  // Browsers show application/atom+xml as source or download it.
  shared: { browserType: 'application/xml; charset=utf-8', vary: 'Accept' },
}
const JSON_FEED = { write: toJsonFeed, type: 'application/feed+json; charset=utf-8' }

const ALL_RECEIVED = 'Лента открыта всем, поэтому в ней есть ответы и тех, кого адресат скрыл. '

const KINDS: Record<keyof typeof FEED_PATHS, Kind> = {
  atom: { read: readWall, ...ATOM },
  json: { read: readWall, ...JSON_FEED },
  replies: { read: readReplies, ...ATOM },
  author: { read: readAuthor, ...ATOM },
  received: { read: readReceived, ...ATOM },
}
const NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[]

export async function serveFeeds(context: PagesContext) {
  const { http, limits, cache, headers } = context
  await http.register(async (feeds) => {
    feeds.addHook('onRequest', ({ ip }) => limits.charge([callCharge(null, ip)]))
    for (const name of NAMES) {
      const { type, shared } = KINDS[name]
      feeds.get<FeedRequest>(FEED_PATHS[name], { schema }, (request, reply) => {
        const { id, username } = request.params
        const about = id ?? username ?? ''
        const { cursor = '' } = request.query
        const url = withCursor(feedPath(name, about), cursor)
        return cache.serveShared({ request, reply, url }, async () => {
          const { body, page } = await writeFeed(context, { name, about, cursor })
          const postIds = [...(id === undefined ? [] : [id]), ...postIdsOf(page)]
          const route = FEED_PATHS[name]
          return new CachedResponse({ route, body, type, ...shared, headers, postIds })
        })
      })
    }
  })
}

type Asked = { name: keyof typeof FEED_PATHS; about: string; cursor: string }

/** Returns one page of a feed, and the posts in it. */
export async function writeFeed(
  { db, idBase, config }: Pick<PagesContext, 'db' | 'idBase' | 'config'>,
  { name, about, cursor }: Asked,
) {
  const { read, write } = KINDS[name]
  const origin = originOf(config)
  const found = await read(db, about, pageAfter(cursor, PAGE_SIZE_MAX))
  const { title, pagePath, note = '', since, page } = found
  const path = found.path ?? feedPath(name, about)
  const feed = {
    id: idBase + path,
    idBase,
    url: withCursor(origin + path, cursor),
    nextUrl: page.nextCursor && withCursor(origin + path, page.nextCursor),
    title: pageTitle(title, config.appName),
    pageUrl: origin + pagePath,
    note,
    since,
    posts: page.posts,
  }
  return { body: Buffer.from(write(feed, origin)), page }
}

async function readWall(db: Db, _about: string, query: Query) {
  const page = await readPostList(db, wallPosts, query, null)
  return { pagePath: PATHS.wall, title: TITLES.wall, since: 0, page }
}

async function readReplies(db: Db, id: string, query: Query) {
  const { post, replies: page } = await readThread(db, id, query)
  const title = `Ответы на запись ${postTitle(post)}`
  return { pagePath: postPath(id), title, since: post.created_at, page }
}

async function readAuthor(db: Db, name: string, query: Query) {
  const { id, username, created_at: since } = await requireProfile(db, name)
  const page = await readPostList(db, postsOf(id), query, null)
  const [path, pagePath] = [feedPath('author', username), authorPath(username)]
  return { path, pagePath, title: username, since, page }
}

async function readReceived(db: Db, name: string, query: Query) {
  const { id, username, created_at: since } = await requireProfile(db, name)
  const page = await readPostList(db, publicReceivedOf(id), query, null)
  const [path, pagePath] = [feedPath('received', username), authorPath(username)]
  return {
    path,
    pagePath,
    title: `Ответы и упоминания: ${username}`,
    note: ALL_RECEIVED,
    since,
    page,
  }
}
