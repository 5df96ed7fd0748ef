import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { ERRORS } from '../../../contract/errors.ts'
import {
  FIRST_PAGE_START,
  type FirstPage,
  markSaved,
  PATHS,
  pageAfter,
  postPath,
  type SiteState,
  searchPath,
  withCursor,
} from '../../../contract/pages.ts'
import { postIdsOf } from '../../../contract/post-rules.ts'
import type { Post, PostPage } from '../../../contract/posts.ts'
import type { FoundPage } from '../../../contract/search.ts'
import { pageOf, searchTitle } from '../../../contract/search-rules.ts'
import type { SiteText, TextName } from '../../../contract/texts.ts'
import { type CachedResponse, sendCached, toCachedResponse } from '../cache/cached-response.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import { AppError } from '../errors/app-error.ts'
import type { Http, ListQuery } from '../http/route.ts'
import { escapeJson } from './escape.ts'
import { HTML_TYPE, headOf, type Shown, VISITOR_META } from './page-head.ts'
import type { WebApp } from './web-app.ts'

/** Reads what visitors see. Rejects with POST_NOT_FOUND, and INVALID_REQUEST for a bad cursor. */
export type PageReads = {
  readWall: (query: ListQuery) => Promise<PostPage>
  readPost: (id: string) => Promise<Post>
  readReplies: (postId: string, query: ListQuery) => Promise<PostPage>
  readText: (name: TextName) => Promise<SiteText>
  /** Rejects with AppError for whatever nothing is found by. */
  search: (query: ListQuery & { q: string }, by: { viewer: null; ip: string }) => Promise<FoundPage>
  /** Never rejects. */
  readSiteState: () => Promise<SiteState>
}

/** A page that visitors may see, by its address. */
export type PublicPage = (
  | { name: 'wall' }
  | { name: 'post'; id: string }
  | { name: 'text'; text: TextName }
  | { name: 'search'; q: string }
) & {
  /** After which post its list begins. */
  cursor: string
}

/** Whether the request for a page carried a session's cookie, of whomever. */
export type Reader = 'visitor' | 'session'

type Options = {
  reads: PageReads
  cache: Pick<ResponseCache, 'serveShared'>
  headers: Record<string, string>
}
type Page = { route: string; url: string; head: Shown; first: FirstPage }

type SearchedPage = Extract<PublicPage, { name: 'search' }>

const NOTHING: FoundPage = { posts: [], nextCursor: null, words: [] }
const OPEN: SiteState = { registrationsClosed: null, writingClosed: null }
/** Hides what is for visitors alone until the app knows who has the session. */
const SESSION_HTML = '<html data-session '
const KEY_ENDS = { visitor: '', session: ' session' }
/** Pages that may wait to be rendered: no crawler can keep the server busy. */
const WAITING_MAX = 16
const WAIT_MAX_MS = 200

/** Thrown where the shell should be sent in place of a rendered page. */
export class TooBusyToRender extends Error {}

/** Renders public pages as a visitor sees them, and serves everybody from the response cache. */
export function createRenderedPages(web: WebApp, { reads, cache, headers }: Options) {
  const takeTurn = createTurns()

  function render({ route, url, head, first }: Page, reader: Reader = 'visitor'): CachedResponse {
    const { before, after, end } = web.rendered
    const isVisitor = reader === 'visitor'
    const start = isVisitor
      ? `${before}${headOf(head, web)}${VISITOR_META}${after}`
      : `${before.replace('<html ', SESSION_HTML)}${headOf(head, web)}${after}`
    const content = web.render(url, first)
    return toCachedResponse({
      route,
      isPage: true,
      body: Buffer.from(`${start}${content}</div>${dataBlock(first)}${end}`),
      // The time of rendering makes no other page: the times that a page shows are in its content.
      tag: hash(start, content, dataBlock({ ...first, now: 0 }), end),
      type: HTML_TYPE,
      headers,
      vary: 'Cookie',
      ...((!isVisitor || first.shows === 'search') && { cacheControl: 'private, no-cache' }),
      postIds: postIdsShown(first),
      markSaved,
    })
  }

  async function read(page: Exclude<PublicPage, { name: 'search' }>): Promise<Page> {
    const { cursor } = page
    const facts = { now: unixNow(), site: await reads.readSiteState() }
    const query = pageAfter(cursor)
    const url = urlOf(page)
    if (page.name === 'wall') {
      const posts = await reads.readWall(query)
      const first = { ...facts, shows: 'wall', cursor, posts } as const
      return { route: PATHS.wall, url, head: 'wall', first }
    }
    if (page.name === 'text') {
      const { text: name } = page
      const text = await reads.readText(name)
      const first = { ...facts, shows: 'text', name, text } as const
      return { route: url, url, head: { title: text.title }, first }
    }
    const [post, replies] = await Promise.all([
      reads.readPost(page.id),
      reads.readReplies(page.id, query),
    ])
    const first = { ...facts, shows: 'post', post, cursor, replies } as const
    return { route: PATHS.post, url, head: post, first }
  }

  /** No cache keeps what people search for. A refusal is a page too, with words and a form. */
  async function serveSearch(page: SearchedPage, reader: Reader, http: Http): Promise<Buffer> {
    const { q, cursor } = page
    const by = { viewer: null, ip: http.request.ip }
    const [site, found] = await Promise.all([
      reads.readSiteState(),
      q === '' ? NOTHING : reads.search({ q, ...pageAfter(cursor) }, by).catch(asRefusal),
    ])
    await takeTurn()
    const refused = found instanceof AppError
    const { words, ...posts } = refused ? NOTHING : found
    const search = { words, refusal: refused ? found.message : null }
    const first = {
      now: unixNow(),
      site,
      shows: 'search',
      cursor,
      posts: pageOf(posts),
      search,
    } as const
    const head = { title: searchTitle(q), isIndexed: false } as const
    const response = render({ route: PATHS.search, url: urlOf(page), head, first }, reader)
    const body = await sendCached(http, { response })
    // Words that cannot be looked for are no failure of the page.
    if (!refused || found.status === ERRORS.INVALID_REQUEST.status) return body
    http.reply.code(found.status)
    if (found.retryAfter !== undefined)
      http.reply.header('retry-after', Math.ceil(found.retryAfter))
    return body
  }

  return {
    /**
     * Sets the headers of the reply and returns the page. All who have a session get one page, with
     * a visitor's content. Rejects with TooBusyToRender, and as the reads do.
     */
    serve(page: PublicPage, { reader, ...http }: Http & { reader: Reader }): Promise<Buffer> {
      if (page.name === 'search') return serveSearch(page, reader, http)
      // No request has a space in its URL.
      return cache.serveShared({ ...http, url: `${urlOf(page)}${KEY_ENDS[reader]}` }, async () => {
        const what = await read(page)
        await takeTurn()
        return render(what, reader)
      })
    },

    /** The answers to what is not there, the same at every address. */
    missing: {
      'no post': render({
        route: PATHS.post,
        url: postPath('0'),
        head: 'no post',
        first: { now: 0, site: OPEN, shows: 'missing post' },
      }),
      nothing: render({
        route: '*',
        url: '/nothing',
        head: 'nothing',
        first: { now: 0, site: OPEN, shows: 'nothing' },
      }),
    },
  }
}

/** The address of a page as links spell it, which is also the key of its cached response. */
export function urlOf(page: PublicPage): string {
  if (page.name === 'text') return PATHS[page.text]
  if (page.name === 'search') return withCursor(searchPath(page.q), page.q && page.cursor)
  return withCursor(page.name === 'wall' ? PATHS.wall : postPath(page.id), page.cursor)
}

/** Lets one page be rendered in each turn of the event loop. */
function createTurns(): () => Promise<void> {
  let waiting = 0
  let last = Promise.resolve()
  return async () => {
    if (waiting >= WAITING_MAX) throw new TooBusyToRender()
    const began = performance.now()
    waiting++
    last = last.then(() => setImmediate())
    await last
    waiting--
    if (performance.now() - began > WAIT_MAX_MS) throw new TooBusyToRender()
  }
}

function asRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

function postIdsShown(first: FirstPage): string[] {
  if (first.shows === 'wall') return postIdsOf(first.posts)
  return first.shows === 'post' ? [...postIdsOf(first.post), ...postIdsOf(first.replies)] : []
}

function dataBlock(first: FirstPage): string {
  return `<script type="application/json" ${FIRST_PAGE_START}${escapeJson(first).slice(1)}</script>`
}

function hash(...parts: string[]): string {
  const sha = createHash('sha1')
  for (const part of parts) sha.update(part)
  return sha.digest('base64url')
}

function unixNow(): number {
  return Math.floor(Date.now() / 1000)
}
