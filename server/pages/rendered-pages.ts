import { ANCESTORS_SHOWN } from '../../contract/constants.ts'
import { ERRORS } from '../../contract/errors.ts'
import {
  authorPath,
  type FirstPage,
  markSaved,
  OPEN_SITE,
  PATHS,
  pageAfter,
  postPath,
  type SiteState,
  searchPath,
  withCursor,
} from '../../contract/pages.ts'
import { hasMoreAncestors, postIdsOf } from '../../contract/post-rules.ts'
import type { FoundPage } from '../../contract/search.ts'
import { pageOf, searchTitle } from '../../contract/search-rules.ts'
import type { TextName } from '../../contract/texts.ts'
import { requireProfile } from '../features/account/account.service.ts'
import { readAncestors } from '../features/posts/ancestors.ts'
import { postsOf, readPostList, readThread, repliesOf, wall } from '../features/posts/post-lists.ts'
import type { Search } from '../features/search/search.service.ts'
import type { ReadText } from '../features/texts/texts.service.ts'
import { accepts, CachedResponse } from '../kernel/cache/cached-response.ts'
import type { ResponseCache } from '../kernel/cache/response-cache.ts'
import type { Db } from '../kernel/db/database.ts'
import { AppError } from '../kernel/errors/app-error.ts'
import { HTML_TYPE } from '../kernel/http/refusal.ts'
import type { Http } from '../kernel/http/route.ts'
import { withHandlerDeadline } from '../kernel/http/server.ts'
import type { MadePage } from './make-page.ts'
import { headOf, type Missing, type Shown, VISITOR_META } from './page-head.ts'
import type { WebApp } from './web-app.ts'

/** A page that visitors may see, by its address. */
export type PublicPage = (
  | { name: 'wall' }
  | { name: 'post'; id: string }
  | { name: 'author' | 'authorReplies'; username: string }
  | { name: 'text'; text: TextName }
  | { name: 'search'; q: string }
) & {
  /** After which post its list begins. */
  cursor: string
}

/** Whether the request for a page carried a session's cookie, of whomever. */
export type Reader = 'visitor' | 'session'

type Options = {
  db: Db
  search: Search
  readText: ReadText
  /** Never rejects. */
  readSiteState: () => Promise<SiteState>
  cache: Pick<ResponseCache, 'serveShared'>
  headers: Record<string, string>
}
type Page = { route: string; url: string; head: Shown; first: FirstPage }

type Asked = { reader?: Reader; http?: Http }

type SearchedPage = Extract<PublicPage, { name: 'search' }>

const NO_FACTS = { now: 0, site: OPEN_SITE }
const MISSING: Record<Missing, Page> = {
  'no post': {
    route: PATHS.post,
    url: postPath('0'),
    head: 'no post',
    first: { ...NO_FACTS, shows: 'missing post' },
  },
  'no author': {
    route: PATHS.author,
    url: authorPath('nobody'),
    head: 'no author',
    first: { ...NO_FACTS, shows: 'missing author' },
  },
  nothing: {
    route: '*',
    url: '/nothing',
    head: 'nothing',
    first: { ...NO_FACTS, shows: 'nothing' },
  },
}
const NOTHING: FoundPage = { posts: [], nextCursor: null, words: [], similar: [] }
const KEY_ENDS = { visitor: '', session: ' session' }
/** Thrown where a page has another address, at which it can be had. */
export class PageMoved extends Error {
  readonly url: string
  constructor(url: string) {
    super(`The page has moved to ${url}`)
    this.url = url
  }
}

/** Renders public pages as a visitor sees them, and serves everybody from the response cache. */
export class RenderedPages {
  readonly #web: WebApp
  readonly #options: Options
  readonly #missing: Partial<Record<Missing, Promise<CachedResponse>>> = {}

  constructor(web: WebApp, options: Options) {
    this.#web = web
    this.#options = options
  }

  /**
   * Sets the headers of the reply and returns the page. All who have a session get one page, with
   * a visitor's content. Rejects with PageMoved, and as the reads do.
   */
  serve(page: PublicPage, { reader, ...http }: Http & { reader: Reader }): Promise<Buffer> {
    if (page.name === 'search') return this.#serveSearch(page, reader, http)
    // No request has a space in its URL.
    const url = `${urlOf(page)}${KEY_ENDS[reader]}`
    return this.#options.cache.serveShared({ ...http, url }, async () =>
      this.#render(await this.#read(page), { reader, http }),
    )
  }

  /** As `serve`, for a page of which only a signed-in user sees more than what surrounds it. */
  serveOwn(path: string, http: Http): Promise<Buffer> {
    return this.#options.cache.serveShared({ ...http, url: `${path} own` }, async () => {
      const first = {
        now: unixNow(),
        site: await this.#options.readSiteState(),
        shows: 'own',
      } as const
      return this.#render(
        { route: path, url: path, head: 'own', first },
        { reader: 'session', http },
      )
    })
  }

  /** Resolves to the answer to what is not there, the same at every address. */
  missing(what: Missing): Promise<CachedResponse> {
    const made = this.#missing[what] ?? this.#render(MISSING[what])
    this.#missing[what] = made
    made.catch(() => delete this.#missing[what])
    return made
  }

  async #render(page: Page, { reader = 'visitor', http }: Asked = {}): Promise<CachedResponse> {
    const leave = this.#web.maker.rendered.tryEnter()
    // All read the wall; the pages of what is missing are made once.
    const isPlain =
      !leave && http !== undefined && page.url !== PATHS.wall && page.first.shows !== 'own'
    const first: FirstPage = isPlain ? { ...page.first, plain: true } : page.first
    const isVisitors = reader === 'visitor'
    try {
      const made = this.#web.maker.make({
        url: page.url,
        head: headOf(page.head, this.#web) + (isVisitors ? VISITOR_META : ''),
        data: JSON.stringify(first),
        isVisitors,
        isPacked: accepts('br', http?.request.headers['accept-encoding']),
      })
      return this.#toResponse(page, { made: await withHandlerDeadline(made), isVisitors })
    } finally {
      leave?.()
    }
  }

  #toResponse(
    { route, first }: Page,
    { made: { body, tag, packed }, isVisitors }: { made: MadePage; isVisitors: boolean },
  ): CachedResponse {
    const isPrivate = !isVisitors || first.shows === 'search'
    return new CachedResponse({
      route,
      isPage: true,
      body: bufferOf(body),
      packed: packed && bufferOf(packed),
      tag,
      type: HTML_TYPE,
      headers: this.#options.headers,
      vary: 'Cookie',
      ...(isPrivate && { cacheControl: 'private, no-cache' }),
      postIds: postIdsShown(first),
      markSaved,
    })
  }

  async #read(page: Exclude<PublicPage, SearchedPage>): Promise<Page> {
    const { db, readText, readSiteState } = this.#options
    const { cursor } = page
    const facts = { now: unixNow(), site: await readSiteState() }
    const query = pageAfter(cursor)
    const url = urlOf(page)
    if (page.name === 'wall') {
      const posts = await readPostList(db, wall, query, null)
      const first = { ...facts, shows: 'wall', cursor, posts } as const
      return { route: PATHS.wall, url, head: 'wall', first }
    }
    if (page.name === 'text') {
      const { text: name } = page
      const text = await readText(name)
      const first = { ...facts, shows: 'text', name, text } as const
      return { route: url, url, head: { title: text.title }, first }
    }
    if (page.name !== 'post') {
      const { name: list } = page
      const author = await requireProfile(db, page.username)
      if (author.username !== page.username) {
        throw new PageMoved(urlOf({ ...page, username: author.username }))
      }
      const listOf = list === 'author' ? postsOf : repliesOf
      const posts = await readPostList(db, listOf(author.id), query, null)
      const first = { ...facts, shows: 'author', author, list, cursor, posts } as const
      return { route: PATHS[list], url, head: author, first }
    }
    const { post, replies } = await readThread(db, page.id, query)
    const nearest = { id: page.id, limit: ANCESTORS_SHOWN }
    const above = hasMoreAncestors(post)
      ? { ancestors: await readAncestors(db, nearest, null) }
      : {}
    const first = { ...facts, shows: 'post', post, ...above, cursor, replies } as const
    return { route: PATHS.post, url, head: post, first }
  }

  /** No cache keeps what people search for. A refusal is a page too, with words and a form. */
  async #serveSearch(page: SearchedPage, reader: Reader, http: Http): Promise<Buffer> {
    const { search, readSiteState } = this.#options
    const { q, cursor } = page
    const by = { viewer: null, ip: http.request.ip }
    const [site, found] = await Promise.all([
      readSiteState(),
      q === '' ? NOTHING : search({ q, ...pageAfter(cursor) }, by).catch(asRefusal),
    ])
    const refused = found instanceof AppError
    const { words, similar, ...posts } = refused ? NOTHING : found
    const first = {
      now: unixNow(),
      site,
      shows: 'search',
      cursor,
      posts: pageOf(posts),
      search: { words, similar, refusal: refused ? found.message : null },
    } as const
    const head = { title: searchTitle(q), isIndexed: false } as const
    const searched = { route: PATHS.search, url: urlOf(page), head, first }
    const response = await this.#render(searched, { reader, http })
    const body = await response.send(http)
    // Words that cannot be looked for are no failure of the page.
    if (!refused || found.status === ERRORS.INVALID_REQUEST.status) return body
    http.reply.code(found.status)
    if (found.retryAfter !== undefined)
      http.reply.header('retry-after', Math.ceil(found.retryAfter))
    return body
  }
}

/** The address of a page as links spell it, which is also the key of its cached response. */
export function urlOf(page: PublicPage): string {
  if (page.name === 'text') return PATHS[page.text]
  if (page.name === 'search') return withCursor(searchPath(page.q), page.q && page.cursor)
  return withCursor(pathOf(page), page.cursor)
}

function pathOf(page: Exclude<PublicPage, { name: 'text' | 'search' }>): string {
  if (page.name === 'wall') return PATHS.wall
  return page.name === 'post' ? postPath(page.id) : authorPath(page.username, page.name)
}

function asRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

function postIdsShown(first: FirstPage): string[] {
  if (first.shows === 'wall' || first.shows === 'author') return postIdsOf(first.posts)
  if (first.shows !== 'post') return []
  return [first.post, first.ancestors ?? { posts: [] }, first.replies].flatMap(postIdsOf)
}

/** The bytes of another thread, not copied. */
function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

function unixNow(): number {
  return Math.floor(Date.now() / 1000)
}
