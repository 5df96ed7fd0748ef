import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  cursorIn,
  isForUsers,
  MODERATION_PATH,
  PATHS,
  pageAt,
  type SiteState,
  searchIn,
  TEXT_NAMES,
} from '../../contract/pages.ts'
import type { Search } from '../features/search/search.service.ts'
import { createSiteStateReader } from '../features/site-state/site-state.service.ts'
import type { ReadText } from '../features/texts/texts.service.ts'
import type { ResponseCache } from '../kernel/cache/response-cache.ts'
import type { Db } from '../kernel/db/database.ts'
import { AppError } from '../kernel/errors/app-error.ts'
import { MADE_PAGES, PAGE_FILES, VISITOR_CALLS } from '../kernel/http/call-limits.ts'
import { NO_POST_CACHE_CONTROL, noteRefusal } from '../kernel/http/error-handler.ts'
import { HTML_TYPE } from '../kernel/http/refusal.ts'
import type { Http } from '../kernel/http/route.ts'
import type { Limits } from '../kernel/limits/limits.ts'
import { serveAppFiles } from './app-files.ts'
import { serveFeeds } from './feeds.ts'
import { headOf, type Missing, type Shown, siteStateMeta, VISITOR_META } from './page-head.ts'
import { servePostPictures } from './post-pictures.ts'
import { PageMoved, type PublicPage, type Reader, RenderedPages, urlOf } from './rendered-pages.ts'
import { serveSitemap } from './sitemap.ts'
import type { WebApp } from './web-app.ts'

const NOT_NOW =
  'Страница сейчас не открывается. Через несколько секунд она загрузится ещё раз' +
  '<meta http-equiv="refresh" content="5">'

const RENDERED = new Set(['wall', 'post', 'author', 'authorReplies', 'search'])

type Options = {
  /** The built web app; null where there is none, and then there are no pages. */
  web: WebApp | null
  db: Db
  search: Search
  readText: ReadText
  cache: Pick<ResponseCache, 'serveShared'>
  limits: Limits
  cookieName: string
  headers: Record<string, string>
  appName: string
  origin: string
}

/**
 * Makes the page in place of one for which there is no time now, without and with a session. The
 * browser's app fills it, by calls of the API; without scripts it loads again.
 */
export function pageNotNow(web: WebApp): Record<Reader, string> {
  const { before, after } = shellNotNow(web)
  const start = before + headOf('other', web)
  return { visitor: start + VISITOR_META + after, session: start + after }
}

function shellNotNow({ shell }: WebApp): WebApp['shell'] {
  return { ...shell, after: shell.after.replace(/(?<=<noscript>).*(?=<\/noscript>)/s, NOT_NOW) }
}

/** Serves all that is no call of the API, and answers what is not found. */
export async function servePages(http: FastifyInstance, options: Options): Promise<void> {
  const { web, limits } = options
  const pages = web && new Pages(web, options)
  if (pages) {
    http.addHook('onClose', web.maker.stop)
    await servePostPictures(http, { ...options, web })
    await http.register(async (site) => {
      site.addHook('onRequest', ({ ip }) => limits.charge([{ limit: PAGE_FILES, ip }]))
      await serveAppFiles(site, web)
      for (const [name, path] of Object.entries(PATHS)) {
        const config = RENDERED.has(name) ? { lane: laneOf } : {}
        site.get(path, { config, schema: { hide: true } }, (request, reply) =>
          pages.send({ request, reply }),
        )
      }
    })
  }
  await serveFeeds(http, options)
  await serveSitemap(http, options)
  // In a context of its own, whose hook runs for nothing else.
  await http.register(async (missing) => {
    missing.addHook('onRequest', async (request, reply) => {
      const isPage = pages && wantsPage(request)
      const limit = isPage ? PAGE_FILES : VISITOR_CALLS
      await limits.charge([{ limit, ip: request.ip }])
      if (isPage) return
      // Before the body is read: the server must not wait for one that nobody needs.
      const allowed = http.methodsAt(request.url)
      if (allowed.length === 0) throw new AppError('NOT_FOUND')
      reply.header('allow', allowed.join(', '))
      if (request.method !== 'OPTIONS') throw new AppError('METHOD_NOT_ALLOWED')
      return reply.code(204).send()
    })
    missing.setNotFoundHandler((request, reply) => {
      if (!pages || !wantsPage(request)) throw new AppError('NOT_FOUND')
      return pages.send({ request, reply })
    })
  })
}

/** All read the beginning of the wall: it does not wait behind the pages that scrapers read. */
const laneOf = ({ url }: FastifyRequest) => (url === PATHS.wall ? 'call' : 'page')

function wantsPage({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !/^\/(?:api|assets)\//.test(url)
}

/** Returns the one spelling of an address: its path, and the parameters that have a value. */
function spell(path: string, query: string): string {
  const given = query.split('&').filter((part) => /=./s.test(part))
  return given.length > 0 ? `${path}?${given.join('&')}` : path
}

/** Sends the pages of people, which a browser opens. */
class Pages {
  readonly #web: WebApp
  readonly #options: Options & { readSiteState: () => Promise<SiteState> }
  readonly #rendered: RenderedPages
  readonly #refusedShell: WebApp['shell']

  constructor(web: WebApp, options: Options) {
    this.#web = web
    this.#options = { ...options, readSiteState: createSiteStateReader(options.db) }
    this.#rendered = new RenderedPages(web, this.#options)
    this.#refusedShell = shellNotNow(web)
  }

  /** Sends the page at an address, or redirects to its one spelling, or says that there is none. */
  send(http: Http): Promise<FastifyReply> | FastifyReply {
    const { url } = http.request
    const [path = '/', query = ''] = url.split(/\?(.*)/s)
    const page = pageAt(path)
    if (page === null) return this.#sendMissing(http, 'nothing')
    if (page.name === 'moderation') return this.#sendModeration(http)
    const spelled = spell(page.path, query)
    if (spelled !== url) return http.reply.redirect(spelled, 308)
    const shown = publicPage(page, query)
    if (shown) return this.#sendPublic(http, shown)
    return isForUsers(page) ? this.#sendOwn(http, page.path) : this.#sendShell(http, 'own')
  }

  /** Sends a page that the browser fills: what is no page for visitors, or could not be read. */
  async #sendShell({ request, reply }: Http, shown: Shown): Promise<FastifyReply> {
    const { before, after } = shown === 'other' ? this.#refusedShell : this.#web.shell
    const session = this.#hasSession(request) ? '' : VISITOR_META
    const state = siteStateMeta(await this.#options.readSiteState())
    return reply
      .headers({ 'cache-control': 'private, no-cache', vary: 'Cookie' })
      .type(HTML_TYPE)
      .send(before + headOf(shown, this.#web) + state + session + after)
  }

  /** The header and the frame of the page come with it: only its content waits for the scripts. */
  async #sendOwn(http: Http, path: string): Promise<FastifyReply> {
    if (!this.#hasSession(http.request)) return this.#sendShell(http, 'own')
    try {
      return http.reply.send(await this.#rendered.serveOwn(path, http))
    } catch (error) {
      noteRefusal(http.reply, error as Error)
      return this.#sendShell(http, 'own')
    }
  }

  /** Only a moderator's browser fills it: for all others it is missing. */
  #sendModeration(http: Http): Promise<FastifyReply> {
    if (!this.#hasSession(http.request)) return this.#sendMissing(http, 'nothing')
    http.reply.code(404)
    return this.#sendOwn(http, MODERATION_PATH)
  }

  /** Says that there is no such post, or no such page. */
  async #sendMissing(http: Http, shown: Missing): Promise<FastifyReply> {
    const { request, reply } = http
    reply.code(404)
    // What is no page for visitors may be one for the signed-in user.
    if (this.#hasSession(request)) return this.#sendShell(http, shown)
    const missing = await this.#rendered.missing(shown)
    const { headers, body } = await missing.variantFor(request.headers['accept-encoding'])
    const cacheControl = shown === 'no post' ? NO_POST_CACHE_CONTROL : 'no-cache'
    return reply.headers({ ...headers, 'cache-control': cacheControl }).send(body)
  }

  /** Sends a page as visitors see it. One that cannot be read now is an error that tries again. */
  async #sendPublic(http: Http, page: PublicPage): Promise<FastifyReply> {
    const { request, reply } = http
    const { ip } = request
    try {
      await this.#options.limits.charge([
        { limit: VISITOR_CALLS, ip },
        { limit: MADE_PAGES, ip },
      ])
      const reader = this.#hasSession(request) ? 'session' : 'visitor'
      return reply.send(await this.#rendered.serve(page, { request, reply, reader }))
    } catch (error) {
      if (isCode(error, 'POST_NOT_FOUND')) return this.#sendMissing(http, 'no post')
      if (isCode(error, 'AUTHOR_NOT_FOUND')) return this.#sendMissing(http, 'no author')
      // Only for now: another may take the name that its author has given up.
      if (error instanceof PageMoved) return reply.redirect(error.url, 302)
      // The cursor is malformed: the list begins anew.
      if (isCode(error, 'INVALID_REQUEST')) return reply.redirect(urlOf({ ...page, cursor: '' }))
      noteRefusal(reply, error as Error)
      // The shell needs no database: it says what it cannot show yet, and tries again.
      return this.#sendShell(http, 'other')
    }
  }

  #hasSession({ cookies }: FastifyRequest): boolean {
    return cookies[this.#options.cookieName] !== undefined
  }
}

/** Returns the page that visitors may see at an address; null if only its user may. */
function publicPage(
  page: NonNullable<ReturnType<typeof pageAt>>,
  query: string,
): PublicPage | null {
  const cursor = cursorIn(query)
  if (page.name === 'post') return { name: 'post', id: page.id, cursor }
  if (page.name === 'author' || page.name === 'authorReplies') {
    return { name: page.name, username: page.username, cursor }
  }
  if (page.name === 'wall') return { name: 'wall', cursor }
  if (page.name === 'search') return { name: 'search', q: searchIn(query), cursor }
  const text = TEXT_NAMES.find((name) => name === page.name)
  return text === undefined ? null : { name: 'text', text, cursor }
}

function isCode(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code
}
