import { ANCESTORS_SHOWN } from '../../contract/constants.ts'
import {
  authorPath,
  type FirstPage,
  markStale,
  OPEN_SITE,
  PATHS,
  type Page,
  pageAfter,
  postPath,
  type SiteState,
  searchPath,
  withCursor,
} from '../../contract/pages.ts'
import { hasMoreAncestors, postIdsOf } from '../../contract/post-rules.ts'
import type { SearchPage } from '../../contract/search.ts'
import { toPostPage } from '../../contract/search-rules.ts'
import type { TextName } from '../../contract/texts.ts'
import { requireProfile } from '../features/account/account.service.ts'
import { readAncestors } from '../features/posts/hydrate-posts.ts'
import {
  postsOf,
  readPostList,
  readThread,
  repliesOf,
  wallPosts,
} from '../features/posts/post-lists.ts'
import { createSiteStateReader, readSiteState } from '../features/site-state/site-state.service.ts'
import { CachedResponse } from '../kernel/cache/cached-response.ts'
import { AppError } from '../kernel/errors/app-error.ts'
import { markRefused } from '../kernel/http/error-handler.ts'
import { HTML_TYPE } from '../kernel/http/refusal.ts'
import type { Http } from '../kernel/http/route.ts'
import { withHandlerDeadline } from '../kernel/http/server.ts'
import {
  type BarePage,
  headOf,
  type MissingContent,
  siteStateMeta,
  VISITOR_META,
} from './page-head.ts'
import type { PagesContext, WebApp } from './web-app.ts'

/** The names of the pages with a list of posts that visitors may see. */
export const PAGES_WITH_LIST = ['wall', 'post', 'author', 'authorReplies', 'search'] as const

/** A page that visitors may see; `cursor` is the position in its list, `q` the search. */
export type PublicPage = Extract<
  Page,
  { name: (typeof PAGES_WITH_LIST)[number] | TextName | 'replyMails' }
> & {
  cursor: string
  q: string
}

/** Whether the request for a page carried a session cookie, even an invalid one. */
export type Reader = 'visitor' | 'session'

type PageSources = Pick<PagesContext, 'db' | 'readText' | 'headers' | 'cache' | 'search'>

type Content = { route: string; url: string; first: FirstPage }

const MISSING_PAGES: Record<MissingContent, { route: string; url: string }> = {
  'missing post': { route: PATHS.post, url: postPath('0') },
  'missing author': { route: PATHS.author, url: authorPath('nobody') },
  nothing: { route: '*', url: '/nothing' },
}
const NOTHING: SearchPage = { posts: [], nextCursor: null, words: [], similar: [] }
const NOT_NOW =
  'Страница сейчас не открывается. Обновите её через несколько секунд' +
  '<noscript><meta http-equiv="refresh" content="5"></noscript>'
const KEY_ENDS = { visitor: '', session: ' session' }

/** Thrown if a page has another address. */
export class PageRedirect extends Error {
  readonly url: string
  constructor(url: string) {
    super(`The page has moved to ${url}`)
    this.url = url
  }
}

/** Renders public pages as a visitor sees them, and serves everybody from the response cache. */
export class RenderedPages {
  readonly #web: WebApp
  readonly #site: PageSources
  readonly #readFreshState: () => Promise<SiteState>
  readonly #shellNotNow: WebApp['shell']
  /** Never rejects. */
  readonly readSiteState: ReturnType<typeof createSiteStateReader>
  readonly #missing: Partial<Record<MissingContent, Promise<CachedResponse>>> = {}

  constructor(
    web: WebApp,
    site: PageSources,
    readFreshState = (): Promise<SiteState> => readSiteState(site.db),
  ) {
    this.#web = web
    this.#site = site
    this.#readFreshState = readFreshState
    this.#shellNotNow = shellNotNow(web)
    this.readSiteState = createSiteStateReader(site.db)
  }

  /** Serves one page for all sessions, with a visitor's content. Rejects with PageRedirect. */
  serve(page: PublicPage, { reader, ...http }: Http & { reader: Reader }): Promise<Buffer> {
    const content = { route: PATHS[page.name], url: urlOf(page) }
    if (page.name === 'search') return this.#serveSearch(page, content, { reader, http })
    // The key of sessions contains a space, which no request has in its URL.
    const key = content.url + KEY_ENDS[reader]
    return this.#site.cache.serveShared({ ...http, url: key }, async () =>
      this.#render({ ...content, first: await this.#read(page) }, reader),
    )
  }

  /** Renders a page as a visitor sees it, without the cache. Rejects with PageRedirect. */
  async render(page: PublicPage): Promise<Buffer> {
    if (page.name === 'search') throw new Error('A search is made for one request')
    const content = { route: PATHS[page.name], url: urlOf(page) }
    const first = await this.#read(page)
    return (await this.#render({ ...content, first }, 'visitor')).identity.body
  }

  /** Serves a page for signed-in users without its content, which the browser adds. */
  serveOwn(path: string, http: Http): Promise<Buffer> {
    return this.#site.cache.serveShared({ ...http, url: `${path} own` }, async () => {
      const first = { ...(await this.#readFacts()), shows: 'own' } as const
      return this.#render({ route: path, url: path, first }, 'session')
    })
  }

  /** Resolves to the page for missing content, the same at every address. */
  missingPage(shows: MissingContent): Promise<CachedResponse> {
    const first = { now: 0, site: OPEN_SITE, shows }
    this.#missing[shows] ??= this.#render({ ...MISSING_PAGES[shows], first }, 'visitor')
    this.#missing[shows].catch(() => delete this.#missing[shows])
    return this.#missing[shows]
  }

  /** Resolves to a page that the browser fills. Never rejects. */
  shell(shows: 'own' | MissingContent, reader: Reader): Promise<string> {
    return this.#fill(this.#web.shell, shows, reader)
  }

  /** Resolves to the page for a request that is refused. Never rejects. */
  refusedPage(reader: Reader): Promise<string> {
    return this.#fill(this.#shellNotNow, 'other', reader)
  }

  async #fill(
    { before, after }: WebApp['shell'],
    shows: BarePage,
    reader: Reader,
  ): Promise<string> {
    const state = siteStateMeta(await this.readSiteState())
    return before + headOf({ shows }, this.#web) + state + metaOf(reader) + after
  }

  async #render({ route, url, first }: Content, reader: Reader): Promise<CachedResponse> {
    const isVisitors = reader === 'visitor'
    const made = this.#web.maker.make({
      url,
      head: headOf(first, this.#web, url) + metaOf(reader),
      data: JSON.stringify(first),
      isVisitors,
    })
    const { body, tag } = await withHandlerDeadline(made)
    const isPrivate = !isVisitors || first.shows === 'search' || first.shows === 'reply mails'
    return new CachedResponse({
      route,
      isPage: true,
      body: bufferOf(body),
      tag,
      type: HTML_TYPE,
      headers: this.#site.headers,
      vary: 'Cookie',
      ...(isPrivate && { cacheControl: 'private, no-cache' }),
      postIds: postIdsShown(first),
      refusedPage: () => this.refusedPage(reader),
      markStale,
    })
  }

  async #readFacts() {
    return { now: Math.floor(Date.now() / 1000), site: await this.#readFreshState() }
  }

  async #read(page: Exclude<PublicPage, { name: 'search' }>): Promise<FirstPage> {
    const { db, readText } = this.#site
    const { cursor } = page
    const facts = await this.#readFacts()
    const query = pageAfter(cursor)
    if (page.name === 'wall') {
      const posts = await readPostList(db, wallPosts, query, null)
      return { ...facts, shows: 'wall', cursor, posts }
    }
    if (page.name === 'post') {
      const { post, replies } = await readThread(db, page.id, query)
      const nearest = { id: page.id, limit: ANCESTORS_SHOWN }
      const above = hasMoreAncestors(post)
        ? { ancestors: await readAncestors(db, nearest, null) }
        : {}
      return { ...facts, shows: 'post', post, ...above, cursor, replies }
    }
    if (page.name === 'author' || page.name === 'authorReplies') {
      const { name: list } = page
      const author = await requireProfile(db, page.username)
      if (author.username !== page.username) {
        throw new PageRedirect(urlOf({ ...page, path: authorPath(author.username, list) }))
      }
      const listOf = list === 'author' ? postsOf : repliesOf
      const posts = await readPostList(db, listOf(author.id), query, null)
      return { ...facts, shows: 'author', author, list, cursor, posts }
    }
    if (page.name === 'replyMails') return { ...facts, shows: 'reply mails' }
    return { ...facts, shows: 'text', name: page.name, text: await readText(page.name) }
  }

  /** Serves a search without a cache, because searches are private. A refusal is a page too. */
  async #serveSearch(
    { q, cursor }: PublicPage,
    content: Omit<Content, 'first'>,
    { reader, http }: { reader: Reader; http: Http },
  ): Promise<Buffer> {
    const by = { viewer: null, ip: http.request.ip }
    const [facts, found] = await Promise.all([
      this.#readFacts(),
      q === '' ? NOTHING : this.#site.search({ q, ...pageAfter(cursor) }, by).catch(asRefusal),
    ])
    const refused = found instanceof AppError
    const { words, similar, ...posts } = refused ? NOTHING : found
    const search = { words, similar, refusal: refused ? found.message : null }
    const first = { ...facts, shows: 'search', cursor, posts: toPostPage(posts), search } as const
    const response = await this.#render({ ...content, first }, reader)
    const body = await response.send(http)
    // A search with unusable words (400) is no failure of the page.
    if (refused && found.status !== 400) markRefused(http.reply, found)
    return body
  }
}

/** Returns the page for an overloaded server. Without scripts it reloads itself after 5 s. */
export function pageNotNow(web: WebApp): Record<Reader, string> {
  const { before, after } = shellNotNow(web)
  const start = before + headOf({ shows: 'other' }, web)
  return { visitor: start + metaOf('visitor') + after, session: start + metaOf('session') + after }
}

function shellNotNow({ shell }: WebApp): WebApp['shell'] {
  const after = shell.after.replace(/(?<=<p id="no-scripts"[^>]*>).*?(?=<\/p>)/s, NOT_NOW)
  return { ...shell, after }
}

function metaOf(reader: Reader): string {
  return reader === 'visitor' ? VISITOR_META : ''
}

/** Returns the address of a page as links spell it. */
export function urlOf({ name, path, q, cursor }: PublicPage): string {
  return name === 'search' ? withCursor(searchPath(q), q && cursor) : withCursor(path, cursor)
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

/** Returns the bytes of another thread without copying them. */
function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}
